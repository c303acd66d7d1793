import { expect, test } from 'vitest'
import { fillPlaceholders, mergePipelineInputs } from './pipeline-inputs.ts'

const labels: Record<string, string> = { 'org.opencontainers.image.revision': 'abc', 'a.*[b]': '$& {{imageTag}}' }
const image = { name: 'shop/web', tag: '1.2', label: (key: string) => labels[key] ?? '' }

test.each([
  ['{{imageName}}:{{imageTag}}', 'shop/web:1.2'],
  ['{{ imageName }} and {{  imageName}}', 'shop/web and shop/web'],
  ['{{ label:org.opencontainers.image.revision }}', 'abc'],
  ['{{label: a.*[b]}}', '$& {{imageTag}}'],
  ['<{{ label:missing }}>', '<>'],
  ['{{ other }} {imageName} {{imagename}}', '{{ other }} {imageName} {{imagename}}'],
  ['{{{imageTag}}}', '{1.2}'],
])('fills the placeholders of %j', (value, expected) => {
  expect(fillPlaceholders(value, image)).toBe(expected)
})

test('a text of braces is read in linear time', () => {
  const hostile = '{{'.repeat(50_000) + ' '.repeat(50_000)
  expect(fillPlaceholders(hostile, image)).toBe(hostile)
})

test('inputs of a watcher override those of the pipeline by id or key, and others are added', () => {
  const ofPipeline = [
    { id: '1', key: 'ENV', value: 'dev' },
    { id: '2', key: 'IMAGE', value: '' },
    { key: 'KEEP', value: 'kept' },
  ]
  const ofWatcher = [
    { id: '1', key: 'ENVIRONMENT', value: 'prod' },
    { key: 'IMAGE', value: '{{imageName}}' },
    { key: 'TAG', value: '{{imageTag}}' },
  ]
  expect(mergePipelineInputs(ofPipeline, ofWatcher)).toEqual([
    { id: '1', key: 'ENVIRONMENT', value: 'prod' },
    { key: 'IMAGE', value: '{{imageName}}' },
    { key: 'KEEP', value: 'kept' },
    { key: 'TAG', value: '{{imageTag}}' },
  ])
})

test('an input of a watcher with the id of one input and the key of another overrides both', () => {
  const ofPipeline = [
    { id: '1', key: 'A', value: 'a' },
    { id: '2', key: 'B', value: 'b' },
  ]
  expect(mergePipelineInputs(ofPipeline, [{ id: '1', key: 'B', value: 'watched' }])).toEqual([
    { id: '1', key: 'B', value: 'watched' },
  ])
})
