import type { ComposeDocument, ReadInput, ReadResult, SourceFile, SourcePosition } from './model.ts'
import { checkSchema } from './read/check-schema.ts'
import { createReadContext, getFileStart, type ReadContext, readDefaultVariables } from './read/context.ts'
import { getDirectory, normalizePath } from './read/file-paths.ts'
import { loadFiles } from './read/include.ts'
import { LimitError, limits } from './read/limits.ts'
import { findPosition, getEntry, getText, type MapNode, toRecord, withEntry } from './read/nodes.ts'
import { createProblemList } from './read/problems.ts'
import { applyProfiles } from './read/profiles.ts'
import { readServiceVariables } from './read/service-variables.ts'
import { substitute } from './read/substitute.ts'

/**
 * Reads compose files as Docker Compose does: YAML, variables, `include`, `extends`, overrides, profiles, and the schema of the Compose
 * Specification. It never throws; what is wrong is in `problems`, each with its place. How much it does is bounded for any input.
 */
export function readCompose(input: ReadInput): ReadResult {
  const length = input.files.reduce((sum, { text }) => sum + text.length, 0)
  if (length > limits.textLength)
    return fail(
      input,
      input.files[0]?.name ?? '',
      'The files have more than 1 MiB together. Remove what is not needed.',
    )
  if (input.files.every(({ text }) => text.trim() === '')) return { problems: [], notKept: [] }
  const context = createReadContext(input)
  try {
    return readFiles(input, context)
  } catch (error) {
    if (!(error instanceof LimitError)) throw error
    return fail(input, context.current, error.message)
  }
}

function fail({ files, envFiles }: ReadInput, file: string, message: string): ReadResult {
  const problems = createProblemList([...files, ...envFiles].map(({ name }) => name))
  problems.error(getFileStart(file), [], message)
  return { problems: problems.list(), notKept: [] }
}

function readFiles(input: ReadInput, context: ReadContext): ReadResult {
  const { problems } = context
  reportDuplicateNames(input, context)
  const [defaults] = input.envFiles
  if (defaults) readDefaultVariables(defaults, context)
  const files = listMainFiles(input.files, context)
  const loaded = loadFiles(files, { context, variables: context.variables, chain: [] })
  if (!loaded) return { problems: problems.list(), notKept: [] }
  context.current = files[0]?.name ?? ''
  // Docker Compose ignores the version too.
  const whole = withEntry(loaded, 'version', undefined)
  checkSchema(whole, problems)
  const { root, notKept } = applyProfiles(whole, input.profiles ?? [])
  const envFileVariables = readEnvFiles(root, context)
  return { document: createDocument(root, envFileVariables, context), problems: problems.list(), notKept }
}

function createDocument(
  root: MapNode,
  envFileVariables: ComposeDocument['envFileVariables'],
  { problems }: ReadContext,
): ComposeDocument {
  return {
    value: toRecord(root),
    position: (path): SourcePosition => findPosition(root, path),
    envFileVariables,
    invalidServices: problems.listInvalidServices(),
  }
}

function reportDuplicateNames({ files, envFiles }: ReadInput, { problems }: ReadContext): void {
  for (const group of [files, envFiles]) {
    const names = new Set<string>()
    for (const { name } of group) {
      const path = normalizePath(name)
      if (names.has(path))
        problems.error(getFileStart(name), [], `Two files have the name ${name}. Rename one of them.`)
      names.add(path)
    }
  }
}

/** The first file and those that override it: files that no other one includes or extends. */
function listMainFiles(files: readonly SourceFile[], context: ReadContext): SourceFile[] {
  const named = new Set<SourceFile>()
  for (const file of files) {
    for (const written of listNamedFiles(context.parseFile(file))) {
      const path = substitute(written, context.variables).text
      const found = context.findFile(getDirectory(file.name), path)
      if (found && found !== file) named.add(found)
    }
  }
  return files.filter((file, index) => index === 0 || !named.has(file))
}

function listNamedFiles(root: MapNode | undefined): string[] {
  const includes = getEntry(root, 'include')
  const items = includes?.kind === 'list' ? includes.items : []
  const included = items.flatMap((item) => {
    const paths = getEntry(item, 'path') ?? item
    return (paths.kind === 'list' ? paths.items : [paths]).flatMap((path) => getText(path) ?? [])
  })
  const services = getEntry(root, 'services')
  const extended = services?.kind === 'map' ? [...services.entries.values()] : []
  return [...included, ...extended.flatMap(({ node }) => getText(getEntry(getEntry(node, 'extends'), 'file')) ?? [])]
}

function readEnvFiles(root: MapNode, context: ReadContext): ComposeDocument['envFileVariables'] {
  const services = getEntry(root, 'services')
  if (services?.kind !== 'map') return {}
  return Object.fromEntries(
    [...services.entries].map(([name, { node }]) => [name, readServiceVariables(name, node, context)]),
  )
}
