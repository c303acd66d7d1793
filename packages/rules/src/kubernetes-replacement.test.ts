import type { ContainerConfigFields } from '@crux/contract'
import { describe, expect, test } from 'vitest'
import { finalConfig } from './final-config.ts'
import { kubernetesPauseReason } from './kubernetes-replacement.ts'

const toContainer = (config: ContainerConfigFields = {}) => ({
  name: 'web',
  config: finalConfig({ image: config, layers: [], imageName: 'web', versionName: '1' }).config,
})
const volumes = [{ name: 'data', path: '/data' }]
const expectedState = { state: 'exited' } as const

describe('the previous pods of a container on a cluster', () => {
  test('stop first where only one pod may write to a volume, also before a job', () => {
    const reason = 'Only one pod at a time may write to the volume data'
    expect(kubernetesPauseReason(toContainer({ volumes }), [toContainer()])).toBe(reason)
    expect(kubernetesPauseReason(toContainer({ volumes, expectedState }), [toContainer({ volumes })])).toBe(reason)
  })

  test('answer while a job without such a volume runs, and are none where the previous release had a job', () => {
    const recreate = { deploymentStrategy: 'recreate' } as const
    expect(kubernetesPauseReason(toContainer({ ...recreate, expectedState }), [toContainer()])).toBeUndefined()
    expect(kubernetesPauseReason(toContainer(recreate), [toContainer({ expectedState })])).toBeUndefined()
    expect(kubernetesPauseReason(toContainer(recreate), [toContainer()])).toMatch(/^Its strategy is Recreate/)
    expect(kubernetesPauseReason(toContainer(recreate), [])).toBeUndefined()
  })
})
