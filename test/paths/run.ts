// `npm run test:paths [-- <pattern of a service> [<seed>]]`: no spelling of a path bypasses the policy.
import { styleText } from 'node:util';
import { PLANES, type PlaneName } from '../../gateway/plan/bounds.ts';
import { askDirectly, type Judged, judge } from './judged.ts';
import { type MountedGateway, mountGateway } from './mounted-gateway.ts';
import type { MountedApi } from './routes.ts';
import { SERVICES, type ServiceKind } from './services/all.ts';
import type { PathService } from './services/path-service.ts';
import { type Spelling, spellingsOf } from './spellings.ts';

const LONGEST_RUN_MS = 1_800_000;
const CASES_PER_API = 300;
const SHOWN = 10;
const HEAD = ['service', 'paths', 'asked', 'other ways in', 'served', 'unjudged', 'wrongly refused'];
const WIDTHS = [16, 42, 7, 15, 8, 9, 15];

interface Started {
  readonly kind: ServiceKind;
  readonly service: PathService;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const row = (cells: readonly unknown[]): void =>
  say(
    cells
      .map((cell, column) => String(cell).padEnd(WIDTHS[column] ?? 0))
      .join(' ')
      .trimEnd(),
  );

setTimeout(() => {
  process.stderr.write(`not finished after ${LONGEST_RUN_MS / 1_000} s\n`);
  process.exit(1);
}, LONGEST_RUN_MS).unref();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** Starts the services. Prints the reason for each that cannot start. */
async function bringUp(
  stack: AsyncDisposableStack,
  kinds: readonly ServiceKind[],
): Promise<readonly Started[]> {
  const all = kinds.map(async (kind): Promise<readonly Started[]> => {
    try {
      return [{ kind, service: stack.use(await kind.start()) }];
    } catch (error) {
      say(`not started: ${kind.name}: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  });
  return (await Promise.all(all)).flat();
}

interface Asked {
  readonly api: MountedApi;
  readonly spellings: readonly Spelling[];
}

/** Counts the other spellings by which the service itself reaches the handler. */
async function otherWaysIn(url: string, asked: readonly Asked[]): Promise<number> {
  const counts = asked.map(async ({ api, spellings }) => {
    const seen = await askDirectly(url, api.below, spellings);
    return spellings.filter(({ of, how, path }) => how !== 'plain' && seen.get(path) === of).length;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/** Prints the row of a service under one policy. Resolves with a line for each wrong result. */
async function judgeService(
  gateway: MountedGateway,
  { kind, service }: Started,
  mounted: { readonly label: string; readonly paths: string },
  seed: number,
): Promise<readonly string[]> {
  const asked = gateway
    .apis(mounted.label)
    .map((api) => ({ api, spellings: spellingsOf(api.routes, CASES_PER_API, seed) }));
  const ways = await otherWaysIn(service.url, asked);
  const judged: Judged[] = [];
  for (const { api, spellings } of asked)
    judged.push(await judge(gateway.port, api, gateway.callers, spellings));
  const sum = (of: (each: Judged) => number) => judged.reduce((all, each) => all + of(each), 0);
  const leaks = judged.flatMap((each) => each.leaks);
  const unserved = judged.flatMap((each) => each.unserved);
  const counts = [sum((each) => each.asked), ways, sum((each) => each.served), leaks.length, unserved.length];
  row([kind.name, mounted.paths, ...counts]);
  const wrong = [...leaks, ...unserved];
  for (const line of wrong.slice(0, SHOWN)) say(styleText('red', `  ${line}`));
  if (wrong.length > SHOWN) say(`  and ${wrong.length - SHOWN} more`);
  return wrong;
}

interface Mount {
  readonly each: Started;
  readonly label: string;
  /** For the table. */
  readonly paths: string;
  /** Further keys of its policies. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** Prints the table of one plane. Returns the number of wrong results. */
async function judgePlane(plane: PlaneName, mounts: readonly Mount[], seed: number): Promise<number> {
  const services = mounts.map(({ each, label, extra }) => ({ label, extra, url: each.service.url }));
  await using gateway = await mountGateway(services, plane);
  say(`\nbounds.plane: ${plane}`);
  row(HEAD);
  let wrong = 0;
  for (const { each, ...mounted } of mounts)
    wrong += (await judgeService(gateway, each, mounted, seed)).length;
  const { fast, general } = await gateway.carried();
  say(`requests carried by the fast plane: ${fast}, by the general plane: ${general}`);
  say(`${plane} plane: ${wrong === 0 ? 'no request reached a handler unjudged' : `${wrong} wrong`}`);
  return wrong;
}

const [pattern = '', given] = process.argv.slice(2);
const seed = Number(given ?? Math.floor(Math.random() * 2 ** 31));
const wanted = SERVICES.filter(({ name }) => new RegExp(pattern).test(name));
await using stack = new AsyncDisposableStack();
const started = await bringUp(stack, wanted);
const mounts = started.flatMap((each): readonly Mount[] => {
  const { name, paths } = each.kind;
  const bare = { each, label: `${name}-without`, paths: 'none', extra: {} };
  return [{ each, label: name, paths: JSON.stringify(paths), extra: { paths } }, bare];
});
say(`seed ${seed}`);
let wrong = 0;
for (const plane of PLANES) wrong += await judgePlane(plane, mounts, seed);
process.exitCode = wrong === 0 ? 0 : 1;
