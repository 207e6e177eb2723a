/**
 * A rule file to fill in. It is of the right form only where nothing has to be decided: every empty text is too short,
 * so the file cannot be loaded before somebody has thought about each.
 */
export function templateOf(name: string, schema = './schema/rule-file.schema.json', override = false): object {
  return {
    $schema: schema,
    schema: 1,
    binary: name,
    ...(override ? { override } : {}),
    docs: '',
    reviewed: { version: '', on: '', how: '' },
    maturity: 'experimental',
    portable: false,
    syntax: 'getopt',
    alone: { '--version': { why: '' } },
    command: {
      why: '',
      stdin: 'unless-operand',
      observes: ['files'],
      options: {
        '-x, --example': { why: '' },
        '-n, --number': { takes: 'number', why: '' },
      },
      operands: ['path*'],
      refuses: { '-o, --output': '' },
    },
    examples: {
      parallel: [],
      serial: [],
    },
  };
}
