import type { ComposePath } from '../model.ts'
import type { Report } from './report.ts'
import {
  type ComposeRecord,
  getMember,
  isComposeRecord,
  toBoolean,
  toComposeRecord,
  toText,
  toTexts,
} from './values.ts'

export type Condition = 'service_started' | 'service_healthy' | 'service_completed_successfully'
export type Dependency = { service: string; on: string; condition: Condition; path: ComposePath }

/** What each service waits for: `depends_on`, and `links`, which depend too. Dependencies on services that are not there are reported. */
export function readDependencies(services: ComposeRecord, report: Report): Dependency[] {
  return Object.entries(services).flatMap(([service, value]) => {
    const record = toComposeRecord(value)
    return [...listDependsOn(service, record), ...listLinks(service, record)].filter((dependency) => {
      if (Object.hasOwn(services, dependency.on)) return true
      const message = `${service} depends on ${dependency.on}, which is not among the services: add it, or remove the dependency`
      if (!dependency.isOptional) report.error(dependency.path, service, message)
      return false
    })
  })
}

function listDependsOn(service: string, value: ComposeRecord): (Dependency & { isOptional: boolean })[] {
  const dependsOn = getMember(value, 'depends_on')
  const at = ['services', service, 'depends_on']
  if (!isComposeRecord(dependsOn))
    return toTexts(dependsOn).map((on, index) => ({
      service,
      on,
      condition: 'service_started' as const,
      path: [...at, index],
      isOptional: false,
    }))
  return Object.entries(dependsOn).map(([on, inner]) => {
    const { condition, required } = toComposeRecord(inner)
    return {
      service,
      on,
      condition: toCondition(toText(condition)),
      path: [...at, on],
      isOptional: toBoolean(required) === false,
    }
  })
}

const toCondition = (text: string | undefined): Condition =>
  text === 'service_healthy' || text === 'service_completed_successfully' ? text : 'service_started'

function listLinks(service: string, value: ComposeRecord): (Dependency & { isOptional: boolean })[] {
  return toTexts(getMember(value, 'links')).map((link, index) => ({
    service,
    on: link.split(':', 1)[0] ?? '',
    condition: 'service_started' as const,
    path: ['services', service, 'links', index],
    isOptional: false,
  }))
}

export type ServiceOrder = { ok: true; order: string[] } | { ok: false; cycle: Dependency[] }

/** Services after those that they depend on, otherwise in the order of the file. */
export function orderServices(names: readonly string[], dependencies: readonly Dependency[]): ServiceOrder {
  const bySource = Map.groupBy(dependencies, ({ service }) => service)
  const state = new Map<string, 'open' | 'done'>()
  const order: string[] = []
  for (const name of names) {
    // An own stack, because a chain of services may be longer than the stack of calls.
    const stack: { service: string; next: number; via?: Dependency }[] = [{ service: name, next: 0 }]
    while (stack.length > 0) {
      const top = stack.at(-1)
      if (!top) break
      if (top.next === 0 && state.get(top.service) === 'done') {
        stack.pop()
        continue
      }
      state.set(top.service, 'open')
      const dependency = bySource.get(top.service)?.[top.next]
      top.next += 1
      if (!dependency) {
        state.set(top.service, 'done')
        order.push(top.service)
        stack.pop()
      } else if (state.get(dependency.on) === 'open') {
        const start = stack.findIndex(({ service }) => service === dependency.on)
        return { ok: false, cycle: [...stack.slice(start + 1).flatMap(({ via }) => via ?? []), dependency] }
      } else if (state.get(dependency.on) !== 'done') stack.push({ service: dependency.on, next: 0, via: dependency })
    }
  }
  return { ok: true, order }
}
