/**
 * For scripts that print: when nobody reads on (`npm run score | head`), what is left to say is dropped, and the work
 * goes on to its end, because its exit code and the files that it writes still count. Import it for its effect.
 */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
