import { NodeCluster } from '@crux/contract'
import { zodResolver } from '@hookform/resolvers/zod'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { findErrorMessage } from './field-error.ts'
import { NameList } from './name-list.ts'

const schema = z.object({
  storageClasses: NameList.pipe(NodeCluster.shape.storageClasses),
  allowForeignNamespaces: NameList.pipe(NodeCluster.shape.allowForeignNamespaces),
})
const resolve = async (values: { storageClasses: string; allowForeignNamespaces: string }) => {
  const options = { fields: {}, shouldUseNativeValidation: false }
  const { errors } = await zodResolver(schema)(values, undefined, options)
  return [findErrorMessage(errors.storageClasses), findErrorMessage(errors.allowForeignNamespaces)]
}

test('a field of names shows what is wrong with one of them', async () => {
  expect(await resolve({ storageClasses: 'fast, Slow!', allowForeignNamespaces: 'team-a, kube-system' })).toEqual([
    'Use lower-case letters, digits, dashes and dots',
    'The namespaces default and kube-* belong to the cluster',
  ])
  expect(await resolve({ storageClasses: 'fast, slow', allowForeignNamespaces: '' })).toEqual([undefined, undefined])
})

test('a field of names shows what is wrong with the list as a whole', async () => {
  const names = Array.from({ length: 51 }, (_, index) => `class-${index}`).join(' ')
  expect(await resolve({ storageClasses: names, allowForeignNamespaces: '' })).toEqual([expect.any(String), undefined])
})
