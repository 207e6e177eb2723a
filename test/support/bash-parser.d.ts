declare module 'bash-parser' {
  export default function parse(text: string): unknown;
}
