import {
  type AndOr,
  type Command,
  type CommandNode,
  type CompoundList,
  type PipelineNode,
  parse,
  type Redirection,
  type Script,
  type Word,
} from 'unbash';

/**
 * What a checker on top of unbash has to do at the very least: read the text, and look once at every command, its name,
 * its words and its redirections, at those within substitutions too. Judges nothing.
 */
export function parseAndWalk(text: string): number {
  const walk = new Walk();
  walk.script(parse(text));
  return walk.seen;
}

type Node = AndOr | PipelineNode | CommandNode | CompoundList;

class Walk {
  /** Characters of all words, so that each of them was asked for. */
  seen = 0;

  script({ commands }: Pick<Script, 'commands'>): void {
    for (const { command } of commands) this.node(command);
  }

  private node(node: Node): void {
    switch (node.type) {
      case 'Command':
        this.command(node);
        return;
      case 'Pipeline':
      case 'AndOr':
        for (const command of node.commands) this.node(command);
        return;
      case 'CompoundList':
        this.script(node);
        return;
      case 'Subshell':
      case 'BraceGroup':
      case 'Function':
      case 'Coproc':
      case 'ArithmeticFor':
        this.node(node.body);
        return;
      case 'Redirected':
        this.redirections(node.redirects);
        this.node(node.command);
        return;
      case 'If':
        this.node(node.clause);
        this.node(node.then);
        for (const { clause, then } of node.elif) {
          this.node(clause);
          this.node(then);
        }
        if (node.else !== undefined) this.node(node.else);
        return;
      case 'While':
        this.node(node.clause);
        this.node(node.body);
        return;
      case 'For':
      case 'Select':
        for (const word of node.wordlist ?? []) this.word(word);
        this.node(node.body);
        return;
      case 'Case':
        this.word(node.word);
        for (const { body } of node.items) this.node(body);
        return;
      case 'TestCommand':
      case 'ArithmeticCommand':
        return;
    }
    node satisfies never;
  }

  private command({ name, prefix, suffix }: Command): void {
    for (const part of prefix) {
      if (part.type !== 'Assignment') this.redirections([part]);
      else if (part.value.type === 'Word') this.word(part.value);
    }
    if (name !== undefined) this.word(name);
    for (const part of suffix) {
      if (part.type === 'Word') this.word(part);
      else if (part.type === 'Assignment') this.seen += part.text.length;
      else this.redirections([part]);
    }
  }

  private redirections(redirections: readonly Redirection[]): void {
    for (const redirection of redirections) {
      if (redirection.type !== 'HereDoc' && redirection.target !== undefined) this.word(redirection.target);
    }
  }

  private word({ value, parts }: Word): void {
    this.seen += value.length;
    for (const part of parts ?? []) {
      if ('script' in part && part.script !== undefined) this.script(part.script);
      if (part.type !== 'DoubleQuoted') continue;
      for (const child of part.parts) {
        if (child.type === 'CommandExpansion' && child.script !== undefined) this.script(child.script);
      }
    }
  }
}
