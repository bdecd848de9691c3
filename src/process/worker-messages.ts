/*
 * What a worker and the primary tell each other: that the worker listens, the primary's questions, the worker's answers.
 */
import type { Worker } from 'node:cluster';
import * as z from 'zod';
import { REASONS, type Reason } from './management.ts';

/** How long a worker has to answer, in milliseconds; one whose event loop stands still does not. */
const PATIENCE_MS = 2_000;

/** Something every worker can be asked, and the form of its answer. */
export interface Question<Answer> {
  about: 'reasons' | 'metrics';
  answer: z.ZodType<Answer>;
}

export const WHY_NOT_READY: Question<Reason[]> = { about: 'reasons', answer: z.array(z.enum(REASONS)) };
/** prom-client's metrics as it writes them as JSON. */
export const METRICS: Question<object[]> = { about: 'metrics', answer: z.array(z.looseObject({})) };

const LISTENS = z.object({ listens: z.string() });
const ASKED = z.object({ question: z.number(), about: z.enum(['reasons', 'metrics']) });
const ANSWERED = z.object({ question: z.number(), answer: z.unknown() });

/** Resolves to a new worker's URL once it listens; rejects when it ends before. */
export function listening(worker: Worker): Promise<string> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: unknown) => {
      const { data } = LISTENS.safeParse(message);
      if (data) resolve(data.listens);
    });
    worker.once('exit', (code, signal) => {
      const how = signal ?? `exit code ${code}`;
      reject(new Error(`A worker ended before it listened (${how}); the reason stands above.`));
    });
  });
}

let asked = 0;

/** Undefined when the worker does not answer in time or at all. */
export function ask<Answer>(worker: Worker, { about, answer }: Question<Answer>): Promise<Answer | undefined> {
  asked += 1;
  const question = asked;
  return new Promise((resolve) => {
    const finish = (given?: Answer) => {
      clearTimeout(timer);
      worker.off('message', onMessage).off('exit', onExit);
      resolve(given);
    };
    const onExit = () => finish();
    const onMessage = (message: unknown) => {
      const { data } = ANSWERED.safeParse(message);
      if (data?.question === question) finish(answer.safeParse(data.answer).data);
    };
    const timer = setTimeout(finish, PATIENCE_MS);
    worker.on('message', onMessage).on('exit', onExit);
    worker.send({ question, about });
  });
}

/** The worker's side: tells the primary where it listens, and answers it from then on. */
export function answerPrimary(url: string, answers: Record<Question<unknown>['about'], () => unknown>): void {
  process.on('message', async (message: unknown) => {
    const { data } = ASKED.safeParse(message);
    if (data && process.connected) process.send?.({ question: data.question, answer: await answers[data.about]() });
  });
  process.send?.({ listens: url });
}
