import {
  BACKSLASH,
  DOUBLE_QUOTE,
  DOUBLE_QUOTED,
  ESCAPABLE,
  LITERAL,
  SINGLE_QUOTE,
  SINGLE_QUOTED,
} from './characters.ts';
import { cutRun, endOfRun, passVisible, refuse, refuseCharacter, type Scan } from './scan-state.ts';

export function passSingleQuoted(scan: Scan): boolean {
  const { text, at: open } = scan;
  cutRun(scan, open, open + 1);
  let at = open + 1;
  while (at < text.length) {
    scan.at = at = endOfRun(SINGLE_QUOTED, text, at);
    const code = text.charCodeAt(at);
    if (code >= 128) {
      if (!passVisible(scan)) return false;
      at = scan.at;
    } else if (SINGLE_QUOTED[code] === SINGLE_QUOTE) {
      cutRun(scan, at, at + 1);
      scan.at = at + 1;
      return true;
    } else if (at < text.length) return refuseCharacter(scan, at);
  }
  return refuse(scan, 'TEXT_QUOTE_OPEN', open, text.length);
}

export function passDoubleQuoted(scan: Scan): boolean {
  const { text, at: open } = scan;
  cutRun(scan, open, open + 1);
  scan.at = open + 1;
  while (scan.at < text.length) {
    const at = scan.at;
    const code = text.charCodeAt(at);
    if (code >= 128) {
      if (!passVisible(scan)) return false;
      continue;
    }
    switch (DOUBLE_QUOTED[code]) {
      case LITERAL:
        scan.at = endOfRun(DOUBLE_QUOTED, text, at + 1);
        break;
      case BACKSLASH:
        scan.at = at + 1;
        // It goes only before these; before anything else it stays, and what follows is read like any other character.
        if (ESCAPABLE[text.charCodeAt(at + 1)] === LITERAL) {
          cutRun(scan, at, at + 1);
          scan.at = at + 2;
        }
        break;
      case DOUBLE_QUOTE:
        cutRun(scan, at, at + 1);
        scan.at = at + 1;
        return true;
      default:
        return refuseCharacter(scan, at);
    }
  }
  return refuse(scan, 'TEXT_QUOTE_OPEN', open, text.length);
}

/** Outside quotes a backslash makes data of whatever may stand between single quotes, and of the single quote. */
export function passEscaped(scan: Scan): boolean {
  const { text, at } = scan;
  const next = at + 1;
  if (next === text.length) return refuse(scan, 'TEXT_BACKSLASH', at, next);
  cutRun(scan, at, next);
  scan.at = next;
  const code = text.charCodeAt(next);
  if (code >= 128) return passVisible(scan);
  const meaning = SINGLE_QUOTED[code];
  if (meaning !== LITERAL && meaning !== SINGLE_QUOTE) return refuseCharacter(scan, next);
  scan.at = next + 1;
  return true;
}
