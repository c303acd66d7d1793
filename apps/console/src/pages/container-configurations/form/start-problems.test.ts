import type { ContainerConfigFields } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import type { Preview } from '../../deployments/change-lines.ts'
import { getStartProblems, placeOfProblem, rowProperty } from './start-problems.ts'

const below = { ports: [{ id: 'a', internal: 80, external: 8_000 }] } as ContainerConfigFields
const own = { ports: [{ id: 'b', internal: 81, external: 8_001 }] } as ContainerConfigFields
const preview = (property: string, instanceId = 'web', description = 'web: Port 8001 is used'): Preview => ({
  hash: '',
  instances: [{ instanceId: 'web', containerName: 'web', action: 'create', changes: [] }],
  removed: [],
  problems: [{ property, error: 'portInUse', description, instanceId }],
})
const shown = (given: Preview, said: string[] = []) => getStartProblems(given, 'web', own, below, new Set(said))

describe('getStartProblems', () => {
  it('addresses a row of this layer by its index and a row of another layer by its id', () => {
    const found = [0, 1].map((index) => shown(preview(`instances[0].config.ports[${index}].external`))[0]?.property)
    expect(found.sort()).toEqual(['ports[0].external', 'ports[a].external'])
    expect(found.sort()).toEqual(
      [own.ports?.[0], below.ports?.[0]].map(
        (row, at) => `${rowProperty('ports', at === 0 ? 0 : -1, row ?? {})}.external`,
      ),
    )
  })

  it('does not repeat a problem that a row of secrets already shows', () => {
    const missing = { ...preview('instances[0].config.secrets.KEY'), problems: [] }
    const problem = {
      property: 'instances[0].config.secrets.KEY',
      error: 'missingSecret',
      description: 'web: the required secret KEY has no value.',
      instanceId: 'web',
    }
    const [found] = shown({ ...missing, problems: [problem] })
    expect(found).toMatchObject({ description: 'The required secret KEY has no value.' })
    expect(found && placeOfProblem(found)).toBe('row')
  })

  it('assigns a problem of a setting without rows to the setting, without the container name', () => {
    expect(shown(preview('instances[0].config.routing.domain', 'web', 'web: a.example/ is in use'))).toEqual([
      { property: 'routing.domain', error: 'portInUse', description: 'a.example/ is in use' },
    ])
  })

  it('omits problems of other instances and properties and those that the form already shows', () => {
    expect(shown(preview('instances[1].config.routing.domain', 'api'))).toEqual([])
    expect(shown(preview('nodeId'))).toEqual([])
    expect(shown(preview('instances[0].config.routing.domain'), ['Port 8001 is used'])).toEqual([])
  })
})
