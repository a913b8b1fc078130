// `sundial config show`: the effective configuration, with secrets redacted.
import {
  type EffectiveConfig,
  effectiveConfig,
  effectiveJson,
  effectiveYaml,
} from '../../plan/effective/effective.ts';
import { hasPlan, loadAll } from '../../plan/load.ts';
import { renderProblems } from '../../plan/problems.ts';
import { type ApartResult, exitCodeOf, failureJson, jsonText } from '../command-result.ts';
import type { FilesAt } from '../command-setting.ts';
import { nothingCalled } from '../nothing-called.ts';

export interface ConfigShowOptions extends FilesAt {
  /** Only the policy of this API, without the gateway file. */
  readonly api: string | undefined;
  readonly defaults: boolean;
  readonly origin: boolean;
  readonly format: 'text' | 'json';
}

export async function runConfigShow(options: ConfigShowOptions): Promise<ApartResult> {
  const loaded = await loadAll(options);
  if (!hasPlan(loaded)) {
    const { problems } = loaded;
    const stderr = renderProblems(problems, { colour: false });
    const stdout = options.format === 'json' ? failureJson(stderr, problems) : '';
    return { exitCode: exitCodeOf(problems, false), stdout, stderr };
  }
  const { sources, plan } = loaded;
  const { api, defaults } = options;
  const chosen = sources.policies.filter(({ file }) => api === undefined || file.api === api);
  if (chosen.length === 0) {
    const names = sources.policies.map(({ file }) => file.api);
    const stderr = `sundial: ${nothingCalled('API', api ?? '', names)}\n`;
    return { exitCode: 2, stdout: options.format === 'json' ? failureJson(stderr) : '', stderr };
  }
  const policies = chosen.map(({ document }) => document);
  const config = effectiveConfig({ revision: plan.revision, gateway: sources.gateway, policies, defaults });
  const shown = api === undefined ? config : { ...config, documents: config.documents.slice(1) };
  return { exitCode: 0, stdout: textOf(shown, options), stderr: '' };
}

function textOf(config: EffectiveConfig, { format, origin }: ConfigShowOptions): string {
  if (format === 'text') return effectiveYaml(config, { origin });
  return jsonText(effectiveJson(config));
}
