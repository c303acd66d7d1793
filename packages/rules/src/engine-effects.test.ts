import { containerConfigFieldNames, containerConfigGroups } from '@crux/contract'
import { expect, test } from 'vitest'
import { engineEffects } from './engine-effects.ts'

test('the effects on each engine agree with the groups of the form, and a cluster refuses no setting as a whole', () => {
  expect(Object.keys(engineEffects).sort()).toEqual([...containerConfigFieldNames].sort())
  const without = (type: 'docker' | 'k8s') =>
    containerConfigFieldNames.filter((field) => engineEffects[field][type] === null).sort()
  expect(without('docker')).toEqual([...containerConfigGroups.kubernetes].sort())
  expect(without('k8s')).toEqual([...containerConfigGroups.docker].sort())
  expect(containerConfigFieldNames.filter((field) => engineEffects[field].k8s?.startsWith('Refused'))).toEqual([])
})
