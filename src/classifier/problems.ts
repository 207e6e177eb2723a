/** What is wrong with rule data, and where: a JSON pointer inside the file. */
export type Problem = { readonly pointer: string; readonly message: string };

/** A JSON pointer (RFC 6901) from keys. */
export function pointerOf(path: readonly (string | number)[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Collects problems under a place in a file, so that an author sees all of them at once. */
export type Report = {
  readonly say: (message: string) => void;
  /** The same, deeper inside. */
  readonly at: (...keys: (string | number)[]) => Report;
};

export function reportInto(problems: Problem[], path: readonly (string | number)[] = []): Report {
  return {
    say: (message) => {
      problems.push({ pointer: pointerOf(path), message });
    },
    at: (...keys) => reportInto(problems, [...path, ...keys]),
  };
}
