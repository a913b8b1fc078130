// An hour of good traffic through a gateway, for the unchanged alert rules.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SCRAPES = 240;
const SCRAPE_S = 15;
/** Instants, which move with the simulated clock. */
const TIMESTAMP = /_timestamp_seconds$/;
const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/;

export interface GoodHour {
  readonly folder: string;
  /** The unchanged alert rules. */
  readonly rules: string;
  /** `host:port` of the metrics, by job. */
  readonly scraped: Readonly<Record<string, string>>;
  /** The requests between two scrapes. */
  readonly traffic: (scrape: number) => Promise<void>;
}

/**
 * Gateway, requests, metrics and promtool are real. The clock is not: each scrape counts as 15 seconds.
 *
 * @throws Error with the output of promtool if an alert fires
 */
export async function expectQuietHour({ folder, rules, scraped, traffic }: GoodHour): Promise<number> {
  const asked = new Set(rules.match(/\bsundial_\w+/g));
  const began = Date.now() / 1_000;
  const values = new Map<string, string[]>();
  const put = (series: string, scrape: number, value: string) => {
    const list = values.get(series) ?? Array<string>(SCRAPES).fill('_');
    list[scrape] = value;
    values.set(series, list);
  };
  for (let scrape = 0; scrape < SCRAPES; scrape += 1) {
    await traffic(scrape);
    for (const [job, host] of Object.entries(scraped)) {
      const own = `job="${job}", cluster="east", instance="${host}"`;
      put(`up{${own}}`, scrape, '1');
      const page = await (await fetch(`http://${host}/metrics`)).text();
      for (const line of page.split('\n')) {
        const [, name = '', labels, value = ''] = SAMPLE.exec(line) ?? [];
        if (!asked.has(name)) continue;
        const series = `${name}{${own}${labels === undefined ? '' : `, ${labels}`}}`;
        put(series, scrape, TIMESTAMP.test(name) ? String(Number(value) - began) : value);
      }
    }
  }
  const file = join(folder, 'good-hour.yml');
  const test = {
    rule_files: ['good-hour-rules.yml'],
    evaluation_interval: '15s',
    tests: [
      {
        interval: `${SCRAPE_S}s`,
        input_series: [...values].map(([series, list]) => ({ series, values: list.join(' ') })),
        promql_expr_test: [
          {
            expr: `count by (alertname) (count_over_time(ALERTS{alertstate="firing"}[1h]))`,
            eval_time: '1h',
            exp_samples: [],
          },
          // The hour is complete.
          {
            expr: 'count(count_over_time(up[1h]) >= 239)',
            eval_time: '1h',
            exp_samples: [{ labels: '{}', value: Object.keys(scraped).length }],
          },
        ],
      },
    ],
  };
  await writeFile(join(folder, 'good-hour-rules.yml'), rules);
  // JSON is valid YAML.
  await writeFile(file, JSON.stringify(test));
  await promisify(execFile)('promtool', ['test', 'rules', file]).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`alerts in an hour of good traffic: ${error.stdout}${error.stderr}`.slice(0, 4_000));
    },
  );
  return values.size;
}
