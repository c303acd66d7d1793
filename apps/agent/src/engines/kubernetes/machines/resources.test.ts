import { expect, test } from 'vitest'
import { parseQuantity, sumPodRequests, toResources } from './resources.ts'

const requests = (cpu: string, memory: string) => ({ resources: { requests: { cpu, memory } } })
const mebibytes = (count: number) => count * 2 ** 20

test('quantities are read in every notation of the API', () => {
  const texts = ['100m', '1.5', '.5', '128Mi', '1Gi', '2k', '1e3', '1E3', '1E', '250u', '4Ei']
  expect(texts.map(parseQuantity)).toEqual([
    0.1,
    1.5,
    0.5,
    mebibytes(128),
    mebibytes(1_024),
    2_000,
    1_000,
    1_000,
    1e18,
    0.00025,
    4 * 2 ** 60,
  ])
  expect(parseQuantity(3)).toBe(3)
})

test('what is no quantity counts as nothing', () => {
  expect(['', '-1', 'many', '1 Gi', '1e999', 'Mi', '0x10', '1.2.3'].map(parseQuantity)).toEqual(Array(8).fill(0))
  expect(parseQuantity(undefined)).toBe(0)
})

test('thousandths of a core are counted without errors of rounding', () => {
  expect(['0.1', '0.29', '100m', '1500u', '1n', '4'].map((cpu) => toResources({ cpu }).cpuMillis)).toEqual([
    100, 290, 100, 2, 1, 4_000,
  ])
})

test('a pod requests what its containers request together, and its overhead', () => {
  const containers = [requests('100m', '64Mi'), requests('0.4', '64Mi'), {}]
  const overhead = { cpu: '10m', memory: '1Mi' }
  expect(sumPodRequests({ containers, overhead })).toEqual({ cpuMillis: 510, memoryBytes: mebibytes(129) })
})

test('an init container counts where it needs more than the containers, with the sidecars that were started before it', () => {
  const sidecar = { ...requests('50m', '32Mi'), restartPolicy: 'Always' }
  const initContainers = [requests('500m', '16Mi'), sidecar, requests('100m', '8Mi')]
  const spec = { initContainers, containers: [requests('200m', '64Mi')] }
  expect(sumPodRequests(spec)).toEqual({ cpuMillis: 500, memoryBytes: mebibytes(96) })
})

test('requests of the pod as a whole replace those of its containers', () => {
  const spec = { containers: [requests('2', '64Mi')], resources: { requests: { cpu: '1' } } }
  expect(sumPodRequests(spec)).toEqual({ cpuMillis: 1_000, memoryBytes: mebibytes(64) })
})

test('a specification of an unknown shape requests nothing', () => {
  for (const spec of [undefined, 'x', { containers: 'x' }, { containers: [{ resources: { requests: { cpu: {} } } }] }])
    expect(sumPodRequests(spec)).toEqual({ cpuMillis: 0, memoryBytes: 0 })
})
