// The page of commands with arguments and options, from the program itself.
import type { Command, Option } from 'commander';
import { createProgram } from '../../gateway/cli/program.ts';
import { code, type Page, pageOf, tableOf } from './markdown.ts';

const EXIT_CODES = [
  ['0', 'In order.'],
  ['1', 'The files have findings, or the gateway refuses.'],
  ['2', 'The call is wrong, or a file cannot be read.'],
  ['3', 'The gateway cannot start, or no gateway answers.'],
];

export function commandPages(): readonly Page[] {
  // No command runs: the program is only described.
  const nothing = {} as Parameters<typeof createProgram>[1];
  const program = createProgram('0', nothing, () => undefined);
  return [
    pageOf(
      'commands.md',
      'Commands',
      [
        'Find each command with its arguments and options.',
        '',
        '`npx` runs Sundial from the folder that has it installed: `npx sundial check`. `npx sundial <command> --help` prints the same',
        'text as this page.',
      ],
      [
        `## Exit codes\n\n${tableOf(['code', 'meaning'], EXIT_CODES)}`,
        ...leavesOf(program).map((command) => sectionOf(command)),
      ],
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
  const names: string[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) names.unshift(at.name());
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
