import type { ComposePath } from '../model.ts'
import { type PlacedRow, type ServiceContext, setRows } from './service-context.ts'
import { splitCommand } from './split-command.ts'
import { parseDuration } from './units.ts'
import { toBoolean, toText } from './values.ts'

type Argument = { key: string }

/** Converts what the process is: command, entrypoint, user, directory, terminal, signal and time to stop. */
export function convertProcess(context: ServiceContext): void {
  const entrypoint = readCommand(context, 'entrypoint')
  const command = readCommand(context, 'command')
  setRows(context, 'commands', entrypoint ?? [], (rows) => {
    context.config.commands = rows
  })
  setRows(context, 'args', command ?? [], (rows) => {
    context.config.args = rows
  })
  if (entrypoint?.length === 0)
    context.omit(['entrypoint'], 'An empty entrypoint is that of the image here: write the program to run instead')
  // With an entrypoint of its own, the engine does not use the command of the image.
  if (command?.length === 0 && !entrypoint?.length)
    context.omit(['command'], 'An empty command is that of the image here: write the entrypoint to run it without')
  convertUser(context)
  const directory = toText(context.get('working_dir'))
  if (directory) context.set('workingDirectory', directory, ['working_dir'])
  const tty = toBoolean(context.get('tty'))
  if (tty !== undefined) context.set('tty', tty, ['tty'])
  convertStop(context)
}

/** @returns undefined if the key is absent or null, which leave it to the image */
function readCommand(context: ServiceContext, field: 'command' | 'entrypoint'): PlacedRow<Argument>[] | undefined {
  const value = context.get(field)
  if (value === undefined || value === null) return undefined
  if (Array.isArray(value))
    return toArguments(
      context,
      value.map((item) => toText(item) ?? ''),
      (index) => [field, index],
    )
  const split = splitCommand(toText(value) ?? '')
  if (!split.ok) {
    context.error([field], split.problem)
    return undefined
  }
  if (split.operator !== undefined)
    context.warning(
      [field],
      `No shell runs this command, so "${split.operator}" is only a character: write ["sh", "-c", "..."] if a shell is meant`,
    )
  return toArguments(context, split.words, () => [field])
}

/** Arguments as rows. White space around them is removed, and an empty one is an error. */
export function toArguments(
  context: ServiceContext,
  words: readonly string[],
  locate: (index: number) => ComposePath,
): PlacedRow<Argument>[] | undefined {
  let isValid = true
  const rows = words.map((word, index) => {
    const key = word.trim()
    const path = locate(index)
    if (key === '') {
      context.error(path, 'An argument cannot be empty here: write it together with another one, such as --name=')
      isValid = false
    } else if (key !== word) context.omit(path, 'White space around an argument is removed')
    return { row: { key }, path }
  })
  return isValid ? rows : undefined
}

function convertUser(context: ServiceContext): void {
  const text = toText(context.get('user'))?.trim()
  if (!text) return
  const [user = '', group] = text.split(':', 2)
  const id = user === 'root' ? 0 : /^\d{1,10}$/.test(user) ? Number(user) : undefined
  if (id === undefined) {
    context.omit(
      ['user'],
      `Crux takes the number of a user, not the name ${user}: write the number that it has in the image`,
    )
    return
  }
  context.set('user', id, ['user'])
  if (group) context.omit(['user'], `The group ${group}: a container has the groups of its user in the image`)
}

function convertStop(context: ServiceContext): void {
  const period = toText(context.get('stop_grace_period'))
  if (period !== undefined) {
    const seconds = parseDuration(period)
    if (seconds === undefined)
      context.error(['stop_grace_period'], `"${period}" is not a duration: write it like 30s or 1m30s`)
    else {
      context.set('stopGracePeriodSeconds', Math.ceil(seconds), ['stop_grace_period'])
      if (!Number.isInteger(seconds))
        context.omit(['stop_grace_period'], `Crux counts whole seconds: it becomes ${Math.ceil(seconds)} s`)
    }
  }
  const signal = toText(context.get('stop_signal'))?.trim().toUpperCase()
  if (signal)
    context.set('stopSignal', /^\d+$/.test(signal) || signal.startsWith('SIG') ? signal : `SIG${signal}`, [
      'stop_signal',
    ])
}
