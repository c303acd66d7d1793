import { expect, test } from 'vitest'
import { listReportingRegistries, previewInputs } from './event-watcher-values.ts'

const registry = (type: 'hub' | 'v2' | 'google' | 'github', url: string) => ({
  id: type,
  name: type,
  type,
  url,
  imageUrlPrefix: url,
})

test('only registries that report the event are offered', () => {
  const all = [
    registry('hub', 'hub.docker.com'),
    registry('v2', 'registry.example.com'),
    registry('google', 'gcr.io'),
    registry('github', 'ghcr.io'),
  ]
  expect(listReportingRegistries(all, 'image-push').map(({ id }) => id)).toEqual(['hub', 'v2', 'github'])
  expect(listReportingRegistries(all, 'image-pull').map(({ id }) => id)).toEqual(['v2'])
})

test('the preview fills name and tag of the example and marks the inputs of the pipeline', () => {
  const ofPipeline = [
    { key: 'IMAGE', value: '' },
    { key: 'ENV', value: 'dev of {{imageName}}' },
  ]
  const ofWatcher = [
    { key: 'IMAGE', value: '{{ imageName }}:{{ imageTag }}' },
    { key: 'REVISION', value: '{{ label:revision }}' },
    { key: ' ', value: 'is being typed' },
  ]
  expect(previewInputs(ofPipeline, ofWatcher, 'localhost:5000/shop/web:1.2', (key) => `<${key}>`)).toEqual([
    { key: 'IMAGE', value: 'localhost:5000/shop/web:1.2', inherited: false },
    { key: 'ENV', value: 'dev of localhost:5000/shop/web', inherited: true },
    { key: 'REVISION', value: '<revision>', inherited: false },
  ])
})

test.each([
  ['shop/web', 'shop/web|'],
  ['localhost:5000/web', 'localhost:5000/web|'],
  ['web:1.2', 'web|1.2'],
])('reads the tag of the example %j', (image, expected) => {
  const inputs = [{ key: 'A', value: '{{imageName}}|{{imageTag}}' }]
  expect(previewInputs(inputs, [], image, String)[0]?.value).toBe(expected)
})
