import { displayWidth } from '../../src/classifier/display-width.ts';

/**
 * A terminal of a given size, as far as programs that redraw in place need one: printing with folding at the last
 * column, CR, LF, cursor up, clearing to the end of a line and of the screen, colours (ignored). Anything else that
 * would move the cursor throws, so that a test sees what a person's terminal would do.
 */
export class Screen {
  #lines: string[][] = [[]];
  #row = 0;
  #column = 0;
  readonly columns: number;

  constructor(columns: number) {
    this.columns = columns;
  }

  write(text: string): void {
    let rest = text;
    while (rest !== '') {
      const sequence = /^\u001b\[([0-9;?]*)([A-Za-z])/.exec(rest);
      if (sequence !== null) {
        this.#control(sequence[2] ?? '', sequence[1] ?? '');
        rest = rest.slice(sequence[0].length);
        continue;
      }
      const char = String.fromCodePoint(rest.codePointAt(0) ?? 0);
      this.#print(char);
      rest = rest.slice(char.length);
    }
  }

  /** What a person sees, without blanks at the end of lines and without empty lines at the end. */
  text(): string {
    const lines = this.#lines.map((line) => line.join('').trimEnd());
    return lines.join('\n').trimEnd();
  }

  #control(letter: string, argument: string): void {
    const line = this.#line();
    if (letter === 'm') return;
    if (letter === 'A') this.#row = Math.max(0, this.#row - Number(argument || 1));
    else if (letter === 'K' && argument === '') line.length = Math.min(line.length, this.#column);
    else if (letter === 'J' && argument === '') {
      line.length = Math.min(line.length, this.#column);
      this.#lines.length = this.#row + 1;
    } else throw new Error(`An escape sequence that this screen does not know: ESC [ ${argument} ${letter}`);
  }

  #print(char: string): void {
    if (char === '\r') this.#column = 0;
    else if (char === '\n') {
      this.#row += 1;
      this.#column = 0;
    } else if (char < ' ' || char === '\u007f') throw new Error(`A raw control character: ${JSON.stringify(char)}`);
    else this.#place(char);
  }

  #place(char: string): void {
    const width = displayWidth(char);
    if (this.#column + width > this.columns) {
      this.#row += 1;
      this.#column = 0;
    }
    const line = this.#line();
    while (line.length < this.#column) line.push(' ');
    line.splice(this.#column, width, char, ...Array<string>(Math.max(0, width - 1)).fill(''));
    this.#column += width;
  }

  #line(): string[] {
    while (this.#lines.length <= this.#row) this.#lines.push([]);
    return this.#lines[this.#row] ?? [];
  }
}
