import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { toClusterYaml } from './cluster-yaml.ts'

const workload = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', labels: { on: 'yes', version: '1.20' } },
  spec: { replicas: 2, args: ['- a\n  b: c', '---', '*x', ''] },
}
const pods = [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-1' } }]

it('writes a workload and its pods as documents that are read back as they were', () => {
  const text = toClusterYaml(JSON.stringify({ workload, pods }))
  expect(text).toMatch(/^apiVersion: apps\/v1\nkind: Deployment\n/)
  const read = (version: '1.1' | '1.2') => parseAllDocuments(text, { version }).map((document) => document.toJS())
  expect(read('1.2')).toEqual([workload, ...pods])
  expect(read('1.1')).toEqual([workload, ...pods])
})

it('writes pods alone where the workload is not that of Crux', () => {
  expect(toClusterYaml(JSON.stringify({ pods }))).toBe('apiVersion: v1\nkind: Pod\nmetadata:\n  name: web-1\n')
  expect(toClusterYaml(JSON.stringify({ pods: [] }))).toBe('')
})
