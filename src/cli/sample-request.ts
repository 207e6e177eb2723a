/** What the printed request needs to know of the server that it goes to. */
export type SampleTarget = {
  /** Where the server listens: `http://127.0.0.1:7311`. */
  readonly address: string;
  /** The directory that the commands run in. */
  readonly directory: string;
  /** A file that does not exist yet, which one command writes and another reads. */
  readonly scratchFile: string;
  /** The file that holds the bearer token, if the server asks for one. */
  readonly tokenFile: string | null;
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

/** A command that a person can paste into a shell: it posts a batch of real commands and waits for its results. */
export function sampleRequest(target: SampleTarget): string {
  const { address, directory, scratchFile, tokenFile } = target;
  const body = JSON.stringify({ cwd: directory, commands: sampleCommands(scratchFile) });
  const lines = [`curl -sS ${shellWord(`${address}/batches`)}`];
  // The token is read when the request is made: it stands neither on the screen nor in the shell's history.
  if (tokenFile !== null) lines.push(`-H "Authorization: Bearer $(cat ${shellWord(tokenFile)})"`);
  lines.push(`-H 'Content-Type: application/json' -H 'Prefer: wait=30'`, `-d ${shellWord(body)}`);
  return lines.join(' \\\n  ');
}
