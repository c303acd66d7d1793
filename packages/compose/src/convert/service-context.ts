import { type ContainerConfigField, type ContainerConfigFields, limits } from '@crux/contract'
import type { ComposePath, ComposeValue, SourcePosition } from '../model.ts'
import type { Report } from './report.ts'
import { type ComposeRecord, getMember } from './values.ts'

/** A service while it is converted. Its paths begin below the service: `['ports', 0]`. */
export type ServiceContext = {
  readonly service: string
  readonly value: ComposeRecord
  /** The whole document, for volumes and networks that the service names. */
  readonly root: ComposeRecord
  readonly config: ContainerConfigFields
  /** By property of the configuration (`ports[1]`, `user`): where its value was written. */
  readonly origins: Map<string, ComposePath>
  get(key: string): ComposeValue | undefined
  locate(path: ComposePath): SourcePosition
  /** Stores a setting and remembers where it was written. */
  set<Field extends ContainerConfigField>(field: Field, value: ContainerConfigFields[Field], path: ComposePath): void
  /** Counts ports that are made from ranges; false if the document has too many. */
  reservePorts(count: number): boolean
  error(path: ComposePath, message: string): void
  warning(path: ComposePath, message: string): void
  omit(path: ComposePath, reason: string): void
}

export function createServiceContext(
  service: string,
  value: ComposeRecord,
  root: ComposeRecord,
  report: Report,
): ServiceContext {
  const config: ContainerConfigFields = {}
  const origins = new Map<string, ComposePath>()
  const toFullPath = (path: ComposePath): ComposePath => ['services', service, ...path]
  return {
    service,
    value,
    root,
    config,
    origins,
    get: (key) => getMember(value, key),
    locate: (path) => report.document.position(toFullPath(path)),
    set: (field, setting, path) => {
      config[field] = setting
      origins.set(field, path)
    },
    reservePorts: report.reservePorts,
    error: (path, message) => report.error(toFullPath(path), service, message),
    warning: (path, message) => report.warning(toFullPath(path), service, message),
    omit: (path, reason) => report.omit(toFullPath(path), service, reason),
  }
}

/** Rows of a list setting, each with the place where it was written. */
export type PlacedRow<Row> = { row: Row; path: ComposePath }

/** Stores the rows of a list setting; a list without rows stays unset. */
export function setRows<Row>(
  context: ServiceContext,
  field: ContainerConfigField,
  placed: readonly PlacedRow<Row>[],
  store: (rows: Row[]) => void,
): void {
  if (placed.length === 0) return
  const tooMany = placed[limits.listEntries]
  if (tooMany) {
    // Checking them would take long.
    context.error(
      tooMany.path,
      `Crux has at most ${limits.listEntries.toLocaleString('en')} of these for a service: remove some`,
    )
    return
  }
  store(placed.map(({ row }) => row))
  for (const [index, { path }] of placed.entries()) context.origins.set(`${field}[${index}]`, path)
}
