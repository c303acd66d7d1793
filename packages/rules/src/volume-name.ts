import type { ContainerConfigFields } from '@crux/contract'
import type { Report } from './config-problem.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that a name must not contain.
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** The maximum length of a name in file systems. */
const nameBytesMax = 255

/**
 * A volume is either an absolute path of the node, which only admins may use, or the name of one directory below the directory of its container. A
 * name with a separator would be inside another volume, where a container can replace a directory by a link.
 *
 * @param known prefix and name of the container if they are known: the problem then contains the location of the data of an old name
 * @returns the reason why it cannot be used, as a sentence for users
 */
export function volumeNameProblem(
  name: string,
  known: { prefix?: string | undefined; container?: string | null | undefined },
): string | undefined {
  if (controlCharacters.test(name)) return 'Leave out line breaks and control characters'
  if (name.split(/[/\\]/).includes('..')) return 'A volume stays in its directory: leave out ".."'
  if (name.startsWith('/')) return undefined
  if (name.startsWith('-')) return 'A volume name does not begin with a dash'
  if (/[/\\]/.test(name)) {
    const { prefix, container } = known
    const data =
      prefix && container && isPlainPath(name)
        ? `. Data that "${name}" had stays in ${prefix}/${container}/${name} of the node's data directory`
        : ''
    return `A volume name has no slash or backslash: each volume is a directory of its own${data}`
  }
  if (new TextEncoder().encode(name).length > nameBytesMax)
    return `A volume name has at most ${nameBytesMax} bytes: it is the name of a directory`
  if (name === '.' || name.trim() === '') return `"${name}" is not the name of a directory`
  return undefined
}

/** Whether a name has several parts, each an entry of the previous directory. Such a name was a path in older versions and can be shown. */
export const isPlainPath = (name: string): boolean =>
  name.includes('/') &&
  name.split('/').every((part) => !/^\.?\.?$/.test(part) && !/^-|\\/.test(part) && !controlCharacters.test(part))

/**
 * Paths of the node that are inside one another while the container, or an init step, can write one of them: a process that writes the outer one
 * could replace the inner one by a link, which the engine would follow. Equal paths are allowed.
 */
export function checkNestedHostPaths(config: ContainerConfigFields, report: Report): void {
  const { configContainer, storage, initContainers } = config
  const filled = new Set([
    configContainer?.volume,
    storage?.path,
    ...(initContainers ?? []).flatMap(({ volumes }) => (volumes ?? []).map(({ name }) => name)),
  ])
  const paths = (config.volumes ?? []).flatMap(({ name, type }, index) =>
    name.startsWith('/') && type !== 'mem' && type !== 'tmp'
      ? [{ index, name, path: normalHostPath(name), writable: type !== 'ro' || filled.has(name) }]
      : [],
  )
  const byPath = Map.groupBy(paths, ({ path }) => path)
  const lengths = [...new Set(paths.map(({ path }) => path.length))]
  for (const inner of paths) {
    const around = lengths.flatMap((length) =>
      isPathEnd(inner.path, length)
        ? (byPath.get(inner.path.slice(0, length)) ?? [])
            .filter((other) => inner.writable || other.writable)
            .slice(0, 1)
        : [],
    )
    const [outer] = around.sort((left, right) => left.index - right.index)
    if (!outer) continue
    const description = `${inner.name} lies inside ${outer.name}, which is a volume too: mount only one of them, or both read-only`
    report(`volumes[${inner.index}].name`, 'matches', description)
  }
}

/** Whether the first characters of a path are those of a directory around it. */
const isPathEnd = (path: string, length: number): boolean =>
  length < path.length && (length === 1 || path[length] === '/')

/** The path without empty parts, dots and a trailing slash. */
function normalHostPath(path: string): string {
  return `/${path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')}`
}

/** Whether the first of two normal paths lies below the other one. */
export const isInside = (inner: string, outer: string): boolean =>
  inner !== outer && inner.startsWith(outer === '/' ? '/' : `${outer}/`)
