import type { ComposeDocument, ComposePath, ComposeProblem, NotKept } from '../model.ts'

/** Single ports of all services. */
const portsMax = 10_000

/** Collects what is wrong and what is not kept, each with its place in the files. */
export type Report = {
  readonly document: ComposeDocument
  readonly problems: ComposeProblem[]
  readonly notKept: NotKept[]
  /** Counts ports that are made from ranges; false if there are too many, which are not counted. */
  reservePorts(count: number): boolean
  error(path: ComposePath, service: string | null, message: string): void
  warning(path: ComposePath, service: string | null, message: string): void
  omit(path: ComposePath, service: string | null, reason: string): void
}

export function createReport(document: ComposeDocument): Report {
  const problems: ComposeProblem[] = []
  const notKept: NotKept[] = []
  let ports = 0
  const locate = (path: ComposePath, service: string | null) => ({
    ...document.position(path),
    path: path.join('.'),
    service,
  })
  const add = (level: ComposeProblem['level']) => (path: ComposePath, service: string | null, message: string) =>
    void problems.push({ ...locate(path, service), level, message })
  return {
    document,
    problems,
    notKept,
    reservePorts(count) {
      if (ports + count > portsMax) return false
      ports += count
      return true
    },
    error: add('error'),
    warning: add('warning'),
    omit: (path, service, reason) => void notKept.push({ ...locate(path, service), reason }),
  }
}
