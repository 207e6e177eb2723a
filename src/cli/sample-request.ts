/** What the printed request needs to know of the server that it goes to. */
export type SampleTarget = {
  /** Where the server listens: `http://127.0.0.1:7311`. */
  readonly address: string;
  /** The directory that the commands run in. */
  readonly directory: string;
  /** A file that does not exist yet, which one command writes and another reads. */
  readonly scratchFile: string;
  /** The Unix socket that leads to it, if it is reached by one. */
  readonly socket: string | null;
  /** The server only judges. */
  readonly classifyOnly: boolean;
  /** Where the bearer token is read from when the request is made; null when the server asks for none. */
  readonly token: { readonly file: string } | { readonly variable: string } | null;
};

/**
 * One word for any POSIX shell, whatever the text holds. Single quotes need no table of what is special inside, and
 * history expansion leaves them alone, which it does not do with double quotes.
 */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Reads of the directory, then one command that writes and one that must see what it wrote. */
export function sampleCommands(scratchFile: string): readonly string[] {
  const file = shellWord(scratchFile);
  return [
    'git log --oneline -5',
    'git status',
    'ls -la',
    'grep -rn "export" src',
    'wc -l README.md',
    `date > ${file}`,
    `cat ${file}`,
  ];
}

/**
 * A command that a person can paste into a shell: it posts a batch of real commands and waits for its results, or asks for
 * their verdicts where nothing is run.
 */
export function sampleRequest(target: SampleTarget): string {
  const { address, directory, scratchFile, socket, classifyOnly, token } = target;
  const body = JSON.stringify({ cwd: directory, commands: sampleCommands(scratchFile) });
  const through = socket === null ? '' : ` --unix-socket ${shellWord(socket)}`;
  const lines = [`curl -sS${through} ${shellWord(`${address}/${classifyOnly ? 'classify' : 'batches'}`)}`];
  // The token is read when the request is made: it stands neither on the screen nor in the shell's history.
  if (token !== null) {
    const read = 'variable' in token ? `$${token.variable}` : `$(cat ${shellWord(token.file)})`;
    lines.push(`-H "Authorization: Bearer ${read}"`);
  }
  const wait = classifyOnly ? '' : " -H 'Prefer: wait=30'";
  lines.push(`-H 'Content-Type: application/json'${wait}`, `-d ${shellWord(body)}`);
  return lines.join(' \\\n  ');
}
