import { readFileSync } from 'node:fs';
import { deflateRawSync, gzipSync } from 'node:zlib';

/** What stands in a file that a command names, so that a reader of its kind can read it. */

const TEXT = 'one foo 1\ntwo bar 2\nTODO error x\n\n-x a.b aaa\n';
/** A list of things with a name and a number: what the filters of examples ask for. */
const DATA = { name: 'core', version: '1.0.0', a: { b: 1 }, items: [{ id: 1, name: 'one' }], list: [1, 2, 3] };

export function contentOf(name: string): string | Uint8Array {
  const base = name.slice(name.lastIndexOf('/') + 1).toLowerCase();
  const made = MAKERS.find(([ends]) => ends.some((end) => base.endsWith(end)));
  return made === undefined ? TEXT : made[1]();
}

/** What archives hold. */
const MEMBERS: Readonly<Record<string, string>> = {
  'a.txt': 'one\n',
  'b.txt': 'two\n',
  'src/main.ts': 'export function main() {}\n',
};

/** What other packers made of a file with `one` in it, and of an archive with those members: node has none of them. */
const PACKED: Readonly<Record<string, string>> = {
  bz2: 'QlpoOTFBWSZTWXgTwIIAAAHBAAAQAgGgACGaaDNNDLxdyRThQkHgTwII',
  xz: '/Td6WFoAAATm1rRGAgAhARwAAAAQz1jMAQADb25lCgD1XLtWH8b9hgABHARvLJzBH7bzfQEAAAAABFla',
  zst: 'KLUv/QRoIQAAb25lCt8WaAk=',
  'tar.bz2':
    'QlpoOTFBWSZTWVfj2ToAALf7hMsQAEBAYf8AAgh7I97KAACAKDAAuKI1EaNNGjQAADTIGGhkyBkYgxMmhpgRSEU8oz1T000gxlD1' +
    'DTam2rrBVpJo3EAsTQB4WYYt4zZGMm1asIhJDp8/1Gx+2TXXlHKM9Pi9rVWGAHPQ3IcGGjxLZM2eWdGNLedz0IaMNjc+BNleJqZO' +
    '3pYX1VpRH5yaTjvgSog9BD2UNYPAidixAEkYKSNXLMd+75fsGW2CIf4u5IpwoSCvx7J0',
  'tar.xz':
    '/Td6WFoAAAFpIt42AgAhARwAAAAQz1jM4Cf/AKJdADCLiofEDvKXpPh1PcWp7dmXqlQSEfc81ZGztLWpJgHed4JJ9PyfP/jDQ+sY' +
    'yz/7dn3txw5HsBxI1bAA2EOUioSvyRdedF7mHKQeAqjhvuA5ZUElJUThe7qIODRRt/7VPSY0LCn4jRqGUo3d1ipGgQgKxStQHij7' +
    'GLuGzg2vbUEwdQSH2foP0IOiRJFswp0x71n7nUYrEFDaRdRy+qORgGL6AAAAAFa0Up4AAboBgFAAAPVVgcQ+MA2LAgAAAAABWVo=',
  'tar.zst':
    'KLUv/QRoRQQAEkYUF4BtDkRwy2aor167TAjZSG8SHWVjqnUKk4RCgE2ZTdqz4Dp1IqVYh1rF26ExrCES9xRahRhQmnpVnREd2/f4' +
    '6C/j6v7Xn5lGKuededwb7cACEyBgJy5tB+c7aD3QzyBVe7CusSrR4Zt6feqMVb3KACiGr/4zqY1DYH+ANIuZEw4KsJ04HAdCAI4=',
};
const packed = (kind: string) => (): Uint8Array => Buffer.from(PACKED[kind] ?? '', 'base64');

const MAKERS: readonly (readonly [ends: readonly string[], make: () => string | Uint8Array])[] = [
  [['.tar.gz', '.tgz'], () => gzipSync(tarOf(MEMBERS))],
  [['.tar.bz2', '.tbz', '.tbz2'], packed('tar.bz2')],
  [['.tar.xz', '.txz'], packed('tar.xz')],
  [['.tar.zst'], packed('tar.zst')],
  [['.bz2'], packed('bz2')],
  [['.xz'], packed('xz')],
  [['.zst'], packed('zst')],
  [['.tar', '.ova'], () => tarOf(MEMBERS)],
  [['.zip', '.jar', '.whl', '.docx', '.epub', '.apk', '.pth'], () => zipOf(MEMBERS)],
  [['.gz'], () => gzipSync(TEXT)],
  [['.json', '.ipynb', '.tfstate'], () => `${JSON.stringify(DATA, null, 2)}\n`],
  [['.jsonl', '.ndjson'], () => `${JSON.stringify(DATA)}\n${JSON.stringify(DATA)}\n`],
  [['.yaml', '.yml'], () => 'name: core\nitems:\n  - id: 1\n'],
  [['.toml', '.ini', '.cfg'], () => '[core]\nname = "core"\n'],
  [['.csv'], () => 'id,name\n1,one\n2,two\n'],
  [['.py'], () => 'def foo():\n    return 1\n\n\nclass MyError(Exception):\n    pass\n'],
  [['.go'], () => 'package main\n\nfunc main() {}\n'],
  [['.png'], () => Buffer.from(PIXEL, 'base64')],
  // Tools for programs read a program.
  [['.o', '.so', '.a', '.out', '.bin', '.exe', '.elf'], () => readFileSync('/bin/true')],
];

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==';

/** In the format of POSIX. */
function tarOf(members: Readonly<Record<string, string>>): Uint8Array {
  const parts = Object.entries(members).flatMap(([name, text]) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write('0000644\0', 100);
    header.write('0000000\0', 108);
    header.write('0000000\0', 116);
    header.write(`${text.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write('14000000000\0', 136);
    header.write('        0', 148);
    header.write('ustar\x0000', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    const body = Buffer.alloc(Math.ceil(text.length / 512) * 512);
    body.write(text, 0);
    return [header, body];
  });
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

/** Deflated files, with the directory behind them that readers begin with. */
function zipOf(members: Readonly<Record<string, string>>): Uint8Array {
  const locals: Uint8Array[] = [];
  const entries: Uint8Array[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(members)) {
    const body = deflateRawSync(text);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt16LE(0x21, 8);
    fields.writeUInt32LE(crcOf(Buffer.from(text)), 10);
    fields.writeUInt32LE(body.length, 14);
    fields.writeUInt32LE(text.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), body]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    locals.push(local);
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), fields, place, Buffer.from(name)]));
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

function crcOf(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
