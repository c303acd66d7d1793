import { deploymentStatuses } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import {
  isVersionDeletable,
  isVersionIncreasable,
  isVersionMutable,
  type VersionFacts,
  versionAction,
} from './versions.ts'

const make = (facts: Partial<VersionFacts> = {}): VersionFacts => ({
  type: 'incremental',
  projectType: 'versioned',
  hasChild: false,
  deploymentStatuses: [],
  ...facts,
})

describe('versions', () => {
  it.each(deploymentStatuses.map((status) => [status] as const))(
    'allow the actions of an incremental version with a deployment that is %s',
    (status) => {
      const facts = make({ deploymentStatuses: ['preparing', status] })
      const free = status === 'preparing' || status === 'failed'
      expect(isVersionMutable(facts)).toBe(free)
      expect(isVersionDeletable(facts)).toBe(free)
      expect(isVersionIncreasable(facts)).toBe(true)
    },
  )

  it.each(deploymentStatuses.map((status) => [status] as const))(
    'allow the actions of a rolling version with a deployment that is %s',
    (status) => {
      const facts = make({ type: 'rolling', deploymentStatuses: [status] })
      expect(isVersionMutable(facts)).toBe(true)
      expect(isVersionDeletable(facts)).toBe(status !== 'in-progress' && status !== 'obsolete')
      expect(isVersionIncreasable(facts)).toBe(false)
    },
  )

  it('cannot be edited as a parent and are increased only once', () => {
    const facts = make({ hasChild: true })
    expect([isVersionMutable(facts), isVersionDeletable(facts), isVersionIncreasable(facts)]).toEqual([
      false,
      false,
      false,
    ])
  })

  it('of a versionless project accept images, but no new name, no increase and no deletion', () => {
    const facts = make({ type: 'rolling', projectType: 'versionless' })
    expect(isVersionMutable(facts)).toBe(true)
    for (const action of ['edit', 'delete', 'increase'] as const)
      expect(versionAction(action, facts)).toMatchObject({ allowed: false, reason: expect.any(String) })
  })
})
