import { describe, expect, test } from 'vitest'
import { type Dependency, orderServices } from './order.ts'

const toDependencies = (edges: readonly [string, string][]): Dependency[] =>
  edges.map(([service, on]) => ({ service, on, condition: 'service_started', path: ['services', service] }))

describe('the order of services', () => {
  test('is that of the file without dependencies', () => {
    expect(orderServices(['c', 'a', 'b'], [])).toEqual({ ok: true, order: ['c', 'a', 'b'] })
  })

  test('has each service after those that it depends on', () => {
    const dependencies = toDependencies([
      ['web', 'api'],
      ['web', 'cache'],
      ['api', 'db'],
      ['cache', 'db'],
    ])
    expect(orderServices(['web', 'mail', 'api', 'cache', 'db'], dependencies)).toEqual({
      ok: true,
      order: ['db', 'api', 'cache', 'web', 'mail'],
    })
  })

  test('follows a chain that is longer than the stack of calls', () => {
    const names = Array.from({ length: 50_000 }, (_, index) => `s${index}`)
    const edges = names.slice(1).map((name, index): [string, string] => [names[index] ?? '', name])
    const result = orderServices(names, toDependencies(edges))
    expect(result).toEqual({ ok: true, order: names.toReversed() })
  })

  test('names the services of a cycle, and only those', () => {
    const edges: [string, string][] = [
      ['outside', 'a'],
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'a'],
    ]
    const result = orderServices(['outside', 'a', 'b', 'c'], toDependencies(edges))
    expect(result.ok || result.cycle.map(({ service, on }) => `${service}>${on}`)).toEqual(['a>b', 'b>c', 'c>a'])
  })
})
