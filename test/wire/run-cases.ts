// Runs the cases against one listener in parallel, each under its own path, and then judges all of them.
import type { Cases } from './all-cases.ts';
import { finalAnswers } from './answers.ts';
import { type Address, converse, type Received } from './client.ts';
import { holds } from './field-lines.ts';
import { converseInHttp2 } from './http2-client.ts';
import { judgeRequest } from './judge/judge-request.ts';
import { judgeResponse } from './judge/judge-response.ts';
import { judgeWebsocket } from './judge/judge-websocket.ts';
import { MARK, type Verdict } from './judge/verdict.ts';
import { type Recorder, SEEN } from './recorder.ts';
import { type Spot, spotAt } from './spot.ts';
import { FRAME, handshake, OBLIGING } from './websockets/rows.ts';
import type { RequestCase, ResponseCase, WebsocketCase } from './wire-case.ts';

export interface Listener {
  readonly address: Address;
  /** For Host and SNI. */
  readonly host: string;
  /** The proxy forwards this folder to the recorder, unchanged or under another prefix. */
  readonly prefix: string;
}

export interface RunOptions {
  readonly listener: Listener;
  readonly recorder: Recorder;
  readonly cases: Cases;
  /** One letter that distinguishes the tags of runs with the same recorder. */
  readonly run: string;
  readonly atOnce: number;
}

export interface Result extends Verdict {
  readonly kind: 'request' | 'response' | 'websocket';
  readonly id: string;
  readonly rules: readonly string[];
  readonly title: string;
}

/** The longest wait for a response. Cases that may have none wait less. */
const PATIENCE_MS = 10_000;
const SHORT_PATIENCE_MS = 700;

interface Ran {
  readonly received: Received;
  readonly worksAfterwards: boolean;
}

/** @throws Error if the proxy does not forward a valid request to the recorder */
export async function runCases(options: RunOptions): Promise<Result[]> {
  const { cases, recorder, atOnce } = options;
  const base = spot(options, 'base');
  if (!(await works(options, base)))
    throw new Error(`no answer of the suite's upstream to GET ${base.prefix}/probe/${base.tag}`);
  const ownFields = recorder.requestsOf(base.tag).flatMap(({ fields }) => fields.map(([name]) => name));
  const overTls = options.listener.address.tls;
  const judged: (() => Result)[] = [];
  const seenBy = (each: Spot, { received, worksAfterwards }: Ran) => ({
    ...received,
    worksAfterwards,
    tunnelled: recorder.tunnelled(each.tag),
    upstream: recorder.requestsOf(each.tag).filter(({ target }) => !target.includes('/probe/')),
  });
  const tasks = [
    ...cases.requests
      .filter(({ http2 }) => overTls || !http2)
      .map((each) => async () => {
        const at = spot(options, each.id);
        const ran = await sendRequest(options, each, at);
        const judge = () => judgeRequest(each, at, { ...seenBy(at, ran), ownFields });
        judged.push(() => ({ ...named('request', each), ...judge() }));
      }),
    ...cases.responses.map((each) => async () => {
      const at = spot(options, each.id);
      const ran = await sendForAnswer(options, each, at);
      const judge = () => judgeResponse(each, { ...seenBy(at, ran), next: `/next/${at.tag}` });
      judged.push(() => ({ ...named('response', each), ...judge() }));
    }),
    ...cases.websockets.map((each) => async () => {
      const at = spot(options, each.id);
      const ran = await sendHandshake(options, each, at);
      const judge = () => judgeWebsocket(each, seenBy(at, ran));
      judged.push(() => ({ ...named('websocket', each), ...judge() }));
    }),
  ];
  await inParallel(tasks, atOnce);
  return judged.map((judge) => judge());
}

const named = (kind: Result['kind'], { id, rules, title }: RequestCase | ResponseCase | WebsocketCase) => ({
  kind,
  id,
  rules,
  title,
});

/** No tag is a prefix or suffix of another. */
const spot = ({ listener, run }: RunOptions, id: string): Spot =>
  spotAt({ ...listener, tag: `t_${id}_${run}` });

async function sendRequest(options: RunOptions, each: RequestCase, at: Spot): Promise<Ran> {
  if (each.script) options.recorder.script(at.tag, each.script);
  const sent = each.send(at);
  const sending = {
    pieces: typeof sent === 'string' ? [sent] : sent,
    ...(each.gapMs === undefined ? {} : { gapMs: each.gapMs }),
    ...(each.end === undefined ? {} : { end: each.end }),
    methods: each.methods ?? [/^[A-Z]+/.exec(String(sent))?.[0] ?? 'GET'],
    answers: each.requests ?? 1,
    patienceMs: each.pass.includes('waiting') ? SHORT_PATIENCE_MS : PATIENCE_MS,
  };
  const { address } = options.listener;
  const received = await (each.http2 ? converseInHttp2(address, sending) : converse(address, sending));
  return { received, worksAfterwards: await works(options, at) };
}

async function sendForAnswer(options: RunOptions, each: ResponseCase, at: Spot): Promise<Ran> {
  options.recorder.script(at.tag, each.script);
  const { method = 'GET', lines = [], requestBody } = each;
  const length = requestBody === undefined ? [] : [`Content-Length: ${requestBody.length}`];
  const received = await converse(options.listener.address, {
    pieces: [at.ask(method, [...lines, ...length], requestBody)],
    methods: [method, 'GET'],
    answers: 1,
    patienceMs: PATIENCE_MS,
    after: at.target(`${at.prefix}/next/${at.tag}`),
  });
  return { received, worksAfterwards: await works(options, at) };
}

async function sendHandshake(options: RunOptions, each: WebsocketCase, at: Spot): Promise<Ran> {
  options.recorder.script(at.tag, each.script ?? OBLIGING);
  const sent = (each.send ?? handshake)(at);
  const received = await converse(options.listener.address, {
    pieces: typeof sent === 'string' ? [sent] : sent,
    ...(each.gapMs === undefined ? {} : { gapMs: each.gapMs }),
    methods: ['GET'],
    answers: 1,
    patienceMs: PATIENCE_MS,
    after: each.after ?? (each.script === undefined || each.pass.includes('switched') ? FRAME : ''),
    ...(each.pass.includes('switched') ? { heard: SEEN } : {}),
  });
  return { received, worksAfterwards: await works(options, at) };
}

/** Whether a valid request on a new connection gets its response. */
async function works({ listener }: RunOptions, at: Spot): Promise<boolean> {
  const target = `${at.prefix}/probe/${at.tag}`;
  const { answers } = await converse(listener.address, {
    pieces: [at.line(`GET ${target} HTTP/1.1`, ['Connection: close'])],
    methods: ['GET'],
    answers: 1,
    patienceMs: PATIENCE_MS,
  });
  const [answer] = finalAnswers(answers);
  return answer?.status === 200 && holds(answer.fields, MARK) && answer.body.includes(`/probe/${at.tag}`);
}

export async function inParallel(tasks: readonly (() => Promise<void>)[], atOnce: number): Promise<void> {
  const waiting = [...tasks];
  const work = async (): Promise<void> => {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) await task();
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
