// `sundial check`: reports all problems of the files without starting the gateway.
import { relative, resolve } from 'node:path';
import { readPreviewAnswer } from '../../api/admin-answers.ts';
import { hasPlan, type Loaded, type LoadedPlan, loadAll } from '../../plan/load.ts';
import { countProblems, type Problem, plural, renderProblems, sortProblems } from '../../plan/problems.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import { type CallError, OTHER_EDITION } from '../admin-call.ts';
import { openGateway } from '../admin-client.ts';
import { type CommandResult, exitCodeOf, forMachines, jsonText } from '../command-result.ts';
import type { CommandSetting, FilesAt, PrintedFiles, ReadRecorded } from '../command-setting.ts';
import { failedExpectations } from '../expectations.ts';
import { fetchUsage } from '../live-usage.ts';
import { printable } from '../terminal-text.ts';
import { formatImpact, type Impacts, usageImpacts } from '../usage-impact.ts';
import { liveProblems } from './live-checks.ts';
import { type CheckNotice, endingExceptions, unannounced } from './notices.ts';
import { changedSinceRecorded, NOTHING_CHANGED } from './recorded-schedules.ts';

export type CheckFormat = 'text' | 'json' | 'github';

export interface CheckOptions extends PrintedFiles {
  /** Policy files to check. Empty: those that the gateway file names. */
  readonly files: readonly string[];
  readonly format: CheckFormat;
  /** Folder of policies published earlier. Rewritten dates and missing versions are findings. */
  readonly against?: string | undefined;
  readonly strict: boolean;
  /** Also checks targets, key sets, Redis and certificates if the files have no errors. `today`: the real clock. */
  readonly live?: { readonly today: EpochMs } | undefined;
  readonly store?: ReadRecorded | undefined;
  /** What this machine can run. */
  readonly machine?: Pick<CommandSetting, 'unusableFolder' | 'unusableTracing'>;
  /** The real instant, for certificates. Default: `now`. */
  readonly today?: EpochMs;
  readonly cwd?: string;
}

export async function runCheck(options: CheckOptions): Promise<CommandResult> {
  const { files, format, strict } = options;
  const read = await loadAll(files.length === 0 ? options : { ...options, policyFiles: files });
  const live =
    options.live !== undefined && hasPlan(read) ? await liveProblems(read, options.live.today) : [];
  const usage = options.live !== undefined && hasPlan(read) ? await usageOf(read, options) : NO_USAGE;
  const refused =
    options.live !== undefined && hasPlan(read) ? await refusedByGateway(options) : NOTHING_REFUSED;
  const recorded =
    options.store !== undefined && hasPlan(read)
      ? await changedSinceRecorded(read, options.store, options)
      : NOTHING_CHANGED;
  const problems = sortProblems([
    ...read.problems,
    ...(await failedExpectations(read)),
    ...(await machineProblems(read, options)),
    ...live,
    ...usage.problems,
    ...refused.problems,
    ...recorded.problems,
  ]);
  const loaded = { ...read, problems };
  const notices = hasPlan(read)
    ? [...endingExceptions(read.sources.policies, options.now), ...unannounced(read, options.now)]
    : [];
  const absent = [usage.absent, refused.absent, recorded.absent].flatMap((each) => each ?? []);
  const report = { ...usage, absent, notices: notices.filter((each) => !isReportedIn(usage, each)) };
  const found = exitCodeOf(loaded.problems, strict);
  const exitCode = found === 0 && refused.unanswered === true ? NO_ANSWER : found;
  return { exitCode, text: textOf(format, loaded, report, options) };
}

/** Problems that another machine, or the same one with other packages, need not have. */
async function machineProblems(
  loaded: Loaded,
  { machine }: Pick<CheckOptions, 'machine'>,
): Promise<readonly Problem[]> {
  if (!hasPlan(loaded) || machine === undefined) return [];
  const { gateway } = loaded.sources;
  const { store, tracing } = loaded.settings;
  const folder = store.kind === 'redis' ? undefined : await machine.unusableFolder(store.folder);
  const packages = tracing.otlp === undefined ? undefined : await machine.unusableTracing(tracing);
  const problems: Problem[] = [];
  if (folder !== undefined)
    problems.push(
      gateway.problem([gateway.has(['store']) ? 'store' : 'data'], { rule: 'data-folder', message: folder }),
    );
  // A warning: the files may be checked on a machine that exports nothing.
  if (packages !== undefined)
    problems.push(
      gateway.problem(['tracing', 'otlp'], {
        rule: 'tracing',
        severity: 'warning',
        message: `a gateway does not start here: ${packages}`,
      }),
    );
  return problems;
}

type UsageFindings = Impacts & { readonly absent?: string };

/** A warning already reports an exception that is still used. */
function isReportedIn({ problems }: UsageFindings, { file, line, column }: CheckNotice): boolean {
  return problems.some((each) => each.file === file && each.line === line && each.column === column);
}

type CheckReport = Impacts & {
  readonly absent: readonly string[];
  readonly notices: readonly CheckNotice[];
};

const NO_ANSWER = 3;
const NO_USAGE: UsageFindings = { impacts: [], problems: [] };

async function usageOf({ sources }: LoadedPlan, options: CheckOptions): Promise<UsageFindings> {
  const { configFile: config, now } = options;
  const fetched = await fetchUsage(sources.policies, { ...options, config, admin: undefined });
  return fetched.kind === 'usage'
    ? usageImpacts(sources.policies, fetched, now)
    : { ...NO_USAGE, absent: `usage not checked: ${fetched.why}` };
}

interface RefusedReload {
  /** Errors only. The check of the files reports its warnings itself. */
  readonly problems: readonly Problem[];
  readonly absent?: string;
  /** True if no gateway answers at the address in the gateway file. */
  readonly unanswered?: boolean;
}

const NOTHING_REFUSED: RefusedReload = { problems: [] };

/** Enough to read thousands of files. */
const PREVIEW_WITHIN_MS = 60_000;
async function refusedByGateway({ configFile, ...files }: FilesAt): Promise<RefusedReload> {
  const { ask } = openGateway({ ...files, config: configFile, admin: undefined, format: 'text' });
  const answer = await ask({ method: 'GET', path: '/-/reload/preview', withinMs: PREVIEW_WITHIN_MS });
  if (answer.kind === 'failed') return unansweredBy(answer);
  const preview = readPreviewAnswer(answer.body);
  if (preview === undefined) return unansweredBy(OTHER_EDITION);
  return { problems: preview.problems.filter(({ severity }) => severity === 'error') };
}

function unansweredBy({ text, exitCode }: CallError): RefusedReload {
  const why = text.replace(/^sundial: /, '').trim();
  const advice = 'sundial check --store compares with the recorded schedules';
  return {
    problems: [],
    absent: `cannot check what a reload would refuse: ${why}; ${advice}`,
    unanswered: exitCode === NO_ANSWER,
  };
}

function textOf(format: CheckFormat, loaded: Loaded, report: CheckReport, options: CheckOptions): string {
  const { problems } = loaded;
  switch (format) {
    case 'json':
      return jsonText({
        problems: problems.map(forMachines),
        ...(report.notices.length > 0 && { notices: report.notices }),
        ...(report.impacts.length > 0 && { impact: report.impacts }),
        ...(report.absent.length > 0 && { absent: report.absent }),
      });
    case 'github':
      return [...problems, ...report.notices.map((each) => ({ ...each, severity: 'notice' as const }))]
        .map(annotation)
        .concat(report.absent.map((line) => `::warning::${dataOf(line)}\n`))
        .join('');
    case 'text':
      return (
        renderProblems(problems, options) + noticeText(report) + impactText(report) + summary(loaded, options)
      );
    default:
      return format satisfies never;
  }
}

function noticeText({ notices }: CheckReport): string {
  const lines = notices.map(
    ({ file, line, column, message }) => `${file}:${line}:${column}: notice: ${message}`,
  );
  return lines.map((line) => `${printable(line)}\n`).join('');
}

function impactText({ impacts, absent }: CheckReport): string {
  return [...impacts.map(formatImpact), ...absent].map((line) => `${printable(line)}\n`).join('');
}

function summary({ problems, plan, files }: Loaded, options: CheckOptions): string {
  const cwd = options.cwd ?? process.cwd();
  const config = relative(cwd, resolve(cwd, options.configFile));
  const checked = `${config} and ${plural(files.length - 1, 'policy file')}`;
  if (plan === undefined) return `${checked}: ${countProblems(problems)}\n`;
  const labels = plan.apis.flatMap((api) =>
    [...api.versions.keys()].filter((label) => label !== UNVERSIONED),
  );
  const counted = labels.length === 0 ? [] : [plural(labels.length, 'version')];
  const contents = [plural(plan.apis.length, 'API'), ...counted].join(', ');
  return `${checked}: ${problems.length === 0 ? 'no problems' : countProblems(problems)} (${contents})\n`;
}

function dataOf(text: string): string {
  return text.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
}

/** A GitHub workflow command. Its data must not contain line ends, its properties no commas and colons either. */
function annotation({
  file,
  line,
  column,
  severity,
  rule,
  message,
  hint,
}: Omit<Problem, 'severity'> & { readonly severity: Problem['severity'] | 'notice' }): string {
  const property = (text: string) => dataOf(text).replace(/:/g, '%3A').replace(/,/g, '%2C');
  const place = `file=${property(file)},line=${line},col=${column},title=${property(rule)}`;
  return `::${severity} ${place}::${dataOf(hint === undefined ? message : `${message} (${hint})`)}\n`;
}
