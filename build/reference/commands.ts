// The pages of commands with arguments and options, from the program itself.
import type { Command, Option } from 'commander';
import { createProgram } from '../../gateway/cli/program.ts';
import { code, type Page, pageOf, tableOf } from './markdown.ts';

const EXIT_CODES = [
  ['0', 'In order.'],
  ['1', 'The files have findings, or the gateway refuses.'],
  ['2', 'The call is wrong, or a file cannot be read.'],
  ['3', 'The gateway cannot start, or no gateway answers.'],
];

/** The commands of each page, by their first word. */
const GROUPS = [
  {
    file: 'commands-files.md',
    title: 'Commands for files',
    about: 'read or write the gateway file and the policy files',
    commands: ['init', 'check', 'explain', 'timeline', 'diff', 'extend', 'openapi', 'config', 'schema'],
  },
  {
    file: 'commands-gateway.md',
    title: 'Commands for a gateway',
    about: 'start a gateway or talk to a running one',
    commands: [
      ...['run', 'status', 'reload', 'accept', 'pause', 'usage', 'notify', 'log-level'],
      ...['backup', 'restore', 'demo'],
    ],
  },
  {
    file: 'commands-accounts.md',
    title: 'Commands for accounts and keys',
    about: 'move the pins of accounts and manage API keys',
    commands: ['pin', 'keys'],
  },
];

export function commandPages(): readonly Page[] {
  // No command runs: the program is only described.
  const nothing = {} as Parameters<typeof createProgram>[1];
  const program = createProgram('0', nothing, () => undefined);
  const leaves = leavesOf(program).map((command) => {
    const words = wordsOf(command).slice(1);
    const group = GROUPS.find(({ commands }) => commands.includes(words[0] ?? ''));
    if (group === undefined) throw new Error(`no page has the command ${words.join(' ')}`);
    return { command, name: words.join(' '), group };
  });
  const index = leaves.map(({ command, name, group }) => [
    code(name),
    sentence(command.description()),
    `[${group.title}](${group.file}#${name.replaceAll(' ', '-')})`,
  ]);
  return [
    pageOf(
      'commands.md',
      'Commands',
      [
        'Find each command, and what its exit code means.',
        '',
        '`npx` runs Sundial from the folder that has it installed: `npx sundial check`.',
        '`npx sundial <command> --help` prints arguments and options.',
      ],
      [
        `## All commands\n\n${tableOf(['command', 'effect', 'page'], index)}`,
        `## Exit codes\n\n${tableOf(['code', 'meaning'], EXIT_CODES)}`,
      ],
    ),
    ...GROUPS.map(({ file, title, about, commands }) =>
      pageOf(
        file,
        title,
        [`Find arguments and options of commands that ${about}. [Commands](commands.md) lists all commands.`],
        commands.flatMap((first) =>
          leaves.filter(({ name }) => name.split(' ')[0] === first).map(({ command }) => sectionOf(command)),
        ),
      ),
    ),
  ];
}

/** Commands that can be called: those without subcommands. */
function leavesOf(command: Command): readonly Command[] {
  const below = command.commands.flatMap((each) => leavesOf(each));
  return command.parent === null ? below : below.length > 0 ? [...below, ...ownOf(command)] : [command];
}

/** A group with options or arguments can be called too. */
function ownOf(command: Command): readonly Command[] {
  return command.options.length > 0 || command.registeredArguments.length > 0 ? [command] : [];
}

function sectionOf(command: Command): string {
  const names = wordsOf(command);
  const usage = [names.join(' '), ...command.registeredArguments.map(argumentOf)].join(' ');
  const inputs = [
    ...command.registeredArguments.map((each) => [code(each.name()), '', sentence(each.description)]),
    ...command.options.map((option) => [code(option.flags), usualOf(option), sentence(option.description)]),
  ];
  return [
    `## ${names.slice(1).join(' ')}`,
    sentence(command.description()),
    `Usage: \`${usage}${command.options.length > 0 ? ' [options]' : ''}\``,
    ...(inputs.length > 0 ? [tableOf(['argument or option', 'default', 'meaning'], inputs)] : []),
  ].join('\n\n');
}

/** Such as `sundial`, `pin`, `show`. */
function wordsOf(command: Command): readonly string[] {
  const names: string[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) names.unshift(at.name());
  return names;
}

function argumentOf(argument: Command['registeredArguments'][number]): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function usualOf({ defaultValue, defaultValueDescription, argChoices = [], envVar }: Option): string {
  const usual = typeof defaultValue === 'string' ? [defaultValueDescription ?? code(defaultValue)] : [];
  const choices = argChoices.length > 0 ? [`one of ${argChoices.map(code).join(', ')}`] : [];
  return [...usual, ...choices, ...(envVar === undefined ? [] : [`variable ${code(envVar)}`])].join('; ');
}

function sentence(text: string): string {
  return text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
}
