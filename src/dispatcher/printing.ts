import { CommandOutput, type KeptOutput, type Stream } from './output.ts';
import type { OutputBudget } from './output-budget.ts';
import { OutputPace } from './output-pace.ts';
import { Redaction } from './redaction.ts';
import type { Owner } from './tool-locks.ts';
import type { Redact } from './types.ts';

/** What one command prints on its way: through the redactors, cut to its part of the batch's budget, told at a pace. */
export class Printing {
  readonly #output: CommandOutput;
  readonly #pace: OutputPace;
  readonly #redaction: Redaction;
  readonly #giveBack: () => void;

  /** @param reserved bytes of the budget that this command may keep. */
  constructor(
    { budget, reserved }: { readonly budget: OutputBudget; readonly reserved: number },
    { redactors, whose }: { readonly redactors: readonly Redact[]; readonly whose: Owner },
    onText: ConstructorParameters<typeof CommandOutput>[1],
  ) {
    const output = new CommandOutput(reserved, onText);
    this.#output = output;
    this.#pace = new OutputPace(() => output.flush());
    this.#redaction = new Redaction(redactors, whose, (stream, bytes) => output.push(stream, bytes));
    this.#giveBack = () => budget.giveBack(reserved - output.keptBytes);
  }

  readonly push = (stream: Stream, chunk: Buffer): void => {
    this.#redaction.push(stream, chunk);
    this.#pace.touch();
  };

  /** What is kept so far. */
  peek(): KeptOutput {
    return this.#output.peek();
  }

  /** Ends it, once: nothing is taken any more, and what was reserved and not used is free for others. */
  end(): KeptOutput {
    this.#pace.stop();
    this.#redaction.end();
    const kept = this.#output.finish();
    this.#giveBack();
    return kept;
  }
}
