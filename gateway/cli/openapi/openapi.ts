// `sundial openapi`: writes the lifecycle of a version into its OpenAPI description.
import { dirname, relative, resolve } from 'node:path';
import { loadAll } from '../../plan/load.ts';
import type { PolicySource } from '../../plan/load-documents.ts';
import { describedVersion } from '../../plan/openapi/described-lifecycle.ts';
import { readDescription } from '../../plan/openapi/description.ts';
import { MAX_DESCRIPTION_BYTES } from '../../plan/openapi/description-text.ts';
import { writeLifecycle } from '../../plan/openapi/write.ts';
import { hasErrors, type Problem, renderProblems } from '../../plan/problems.ts';
import { readCapped, tryRead } from '../../plan/read/files.ts';
import { announcementOf } from '../../policy/lifecycle/announcements.ts';
import { dayOf } from '../../policy/notation.ts';
import { type ApartResult, exitCodeOf } from '../command-result.ts';
import type { DatedFiles } from '../command-setting.ts';
import { nothingCalled } from '../nothing-called.ts';
import { replaceFile } from '../replace-file.ts';

export interface OpenapiOptions extends DatedFiles {
  readonly api: string;
  readonly version: string;
  readonly write: boolean;
}

/** Removed from a written description before their announcement. The policy may have only the values from there. */
const REMOVED = ['sunset', 'guide'] as const;

/** Exit code 1 for problems in the files or description. 2 if a version or description is missing or unwritable. */
export async function runOpenapi(options: OpenapiOptions): Promise<ApartResult> {
  const cwd = options.cwd ?? process.cwd();
  const { plan, problems, sources } = await loadAll({
    ...options,
    now: Math.max(options.now, options.today),
  });
  if (hasErrors(problems) || plan === undefined || sources === undefined)
    return { exitCode: codeOf(problems), stdout: '', stderr: renderProblems(problems, options) };
  const source = sources.policies.find(({ file }) => file.api === options.api);
  if (source === undefined)
    return unusable(
      nothingCalled(
        'API',
        options.api,
        plan.apis.map(({ name }) => name),
      ),
    );
  const { versions } = source.file;
  if (versions === 'none') return unusable(`${options.api} has no versions, so it has no description`);
  const version = Object.hasOwn(versions, options.version) ? versions[options.version] : undefined;
  if (version === undefined)
    return unusable(nothingCalled('version', options.version, Object.keys(versions)));
  if (version.openapi === undefined) return unusable(unnamed(source, options));

  const policy = resolve(cwd, source.document.file);
  const file = resolve(dirname(policy), version.openapi);
  const shown = relative(cwd, file);
  const read = await tryRead(file, readCapped, MAX_DESCRIPTION_BYTES);
  if (read.kind === 'unreadable') return unusable(`cannot read ${shown}: ${read.why}`);
  const description = readDescription(shown, read.bytes);
  const rules = plan.apiNamed(options.api)?.versions.get(options.version);
  if (rules === undefined) throw new Error('a version of the files is not in their plan');
  const result = writeLifecycle(
    describedVersion(source.file, version, rules, { description, now: options.now }),
  );
  if (result.kind === 'no-map')
    return unusable(
      `${shown} has no \`info\` to write the lifecycle into: add one with a title and a version`,
    );
  if (result.kind === 'shared-anchor') return unusable(entangled(shown));

  const before = new TextDecoder('utf-8', { ignoreBOM: true }).decode(read.bytes);
  const after = before.startsWith('\ufeff') ? `\ufeff${result.text}` : result.text;
  if (!options.write) return { exitCode: 0, stdout: after, stderr: '' };
  const announced = announcementOf(rules.schedule) ?? options.now;
  const key = REMOVED.find((each) => source.document.origin(['versions', rules.label, each])?.file === shown);
  if (options.now < announced && key !== undefined)
    return unusable(
      `${options.api} ${rules.label} is announced on ${dayOf(announced)}, and only ${shown} has its ${key}: add \`${key}:\` to ${rules.label} in ${source.document.file}`,
    );
  if (after === before) return { exitCode: 0, stdout: `${shown} is already up to date.\n`, stderr: '' };
  const refused = await replaceFile(file, read.bytes, new TextEncoder().encode(after));
  if (refused !== undefined) return unusable(`cannot write ${shown}: ${refused}`);
  return { exitCode: 0, stdout: `${shown} is written.\n`, stderr: '' };
}

function codeOf(problems: readonly Problem[]): ApartResult['exitCode'] {
  return problems.some(({ rule }) => rule === 'openapi') ? 2 : exitCodeOf(problems, false);
}

function unnamed({ document }: PolicySource, { api, version }: OpenapiOptions): string {
  return `${api} ${version} has no description: add \`openapi:\` and its path to ${version} in ${document.file}`;
}

function entangled(file: string): string {
  return `${file} cannot be written without changing more than the lifecycle: several operations share one anchor, or x-lifecycle is not a map`;
}

function unusable(message: string): ApartResult {
  return { exitCode: 2, stdout: '', stderr: `sundial: ${message}\n` };
}
