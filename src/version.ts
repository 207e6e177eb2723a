import { readFileSync } from 'node:fs';

/** The package's own version. Beside `src/` and beside `dist/` there is the same package.json. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
