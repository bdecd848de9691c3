/* The messages between a worker and the primary: that the worker listens, the primary's questions, the worker's answers. */
import type { Worker } from 'node:cluster';
import * as z from 'zod';
import { STATUS, type Status } from './management.ts';

/** How long a worker may take until it listens, in milliseconds. */
const LISTEN_WITHIN_MS = 30_000;

/** A question to a worker, and the schema of its answer. */
interface Question<Answer> {
  about: 'status' | 'metrics';
  /** How long the worker may take to answer, in milliseconds. */
  withinMs: number;
  answer: z.ZodType<Answer>;
}

export const ASK_STATUS: Question<Status> = {
  about: 'status',
  // A readiness probe of Kubernetes waits for one second.
  withinMs: 500,
  answer: STATUS,
};

/** A metric as prom-client writes it as JSON. */
export interface Metric {
  type: string;
}
export const ASK_METRICS: Question<Metric[]> = {
  about: 'metrics',
  withinMs: 2_000,
  answer: z.array(z.looseObject({ type: z.string() })),
};

/** A worker ended before it listened. It has printed why. */
export class WorkerEnded extends Error {
  override readonly name = 'WorkerEnded';
}

const LISTENS = z.object({ listens: z.string() });
const QUESTION = z.object({ question: z.number(), about: z.enum(['status', 'metrics']) });
const ANSWER = z.object({ question: z.number(), answer: z.unknown() });

/** Resolves to a new worker's URL when it listens. Kills a worker that takes too long. Rejects when it ends before. */
export function listening(worker: Worker): Promise<string> {
  // Each question listens for its answer, and many can be open while a worker hangs.
  worker.setMaxListeners(0);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => worker.process.kill('SIGKILL'), LISTEN_WITHIN_MS);
    worker.on('message', (message: unknown) => {
      const { data } = LISTENS.safeParse(message);
      if (!data) return;
      clearTimeout(timer);
      resolve(data.listens);
    });
    worker.once('exit', (code, signal) => {
      clearTimeout(timer);
      reject(
        new WorkerEnded(`A worker ended before it listened (${signal ?? `exit code ${code}`}); its reason is above.`),
      );
    });
  });
}

let questions = 0;

/** The worker's answer to a question; undefined when it does not answer in time. */
export function ask<Answer>(
  worker: Worker,
  { about, withinMs, answer }: Question<Answer>,
): Promise<Answer | undefined> {
  questions += 1;
  const question = questions;
  return new Promise((resolve) => {
    const finish = (given?: Answer) => {
      clearTimeout(timer);
      worker.off('message', onMessage).off('exit', onExit);
      resolve(given);
    };
    const onExit = () => finish();
    const onMessage = (message: unknown) => {
      const { data } = ANSWER.safeParse(message);
      if (data?.question === question) finish(answer.safeParse(data.answer).data);
    };
    const timer = setTimeout(finish, withinMs);
    worker.on('message', onMessage).on('exit', onExit);
    // Without the callback, a worker that has just died would end the primary: `error` without a listener.
    if (worker.isConnected()) worker.send({ question, about }, (error) => error && finish());
    else finish();
  });
}

/** The worker's side: sends its URL to the primary, and answers the primary's questions from then on. */
export function answerPrimary(url: string, answers: Record<Question<unknown>['about'], () => unknown>): void {
  process.on('message', async (message: unknown) => {
    const { data } = QUESTION.safeParse(message);
    if (!data) return;
    const answer = await answers[data.about]();
    // With the callback, a channel that closes meanwhile is no error of the process.
    if (process.connected) process.send?.({ question: data.question, answer }, undefined, undefined, () => undefined);
  });
  process.send?.({ listens: url });
}
