import type { ContainerConfigFields } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { validateConfig } from './config-validate.ts'
import { annotationBytesMax } from './validate-kubernetes-names.ts'

const problems = (config: ContainerConfigFields, options?: Parameters<typeof validateConfig>[1]) =>
  validateConfig(config, options).map(({ property, error }) => `${property} ${error}`)
const long = 'a'.repeat(63)
const domain = `${`${long}.`.repeat(3)}${'a'.repeat(61)}`
const label = (key: string, value: string | null = '') => problems({ labels: { service: [{ key, value }] } })
const annotation = (key: string, value = '') => problems({ annotations: { ingress: [{ key, value }] } })

describe('labels and annotations under the rules of Kubernetes', () => {
  it.each(['tier', 'A', '0', 'a-b_c.D9', long, 'app.kubernetes.io/name', 'example.com/a', 'x/y', `${domain}/${long}`])(
    'accept the key %s',
    (key) => {
      expect(label(key)).toEqual([])
      expect(annotation(key)).toEqual([])
    },
  )

  it.each([
    ['-tier', 'matches'],
    ['tier-', 'matches'],
    ['_tier', 'matches'],
    ['tier.', 'matches'],
    ['größe', 'matches'],
    ['a!b', 'matches'],
    ['/name', 'matches'],
    ['example.com/', 'matches'],
    ['example.com/a/b', 'matches'],
    ['example..com/a', 'matches'],
    ['-example.com/a', 'matches'],
    ['exam_ple.com/a', 'matches'],
    [`${long}a`, 'max'],
    [`example.com/${long}a`, 'max'],
    [`${domain}a/name`, 'matches'],
  ])('refuse the key %s with a problem at the key', (key, error) => {
    expect(label(key)).toEqual([`labels.service[0].key ${error}`])
    expect(annotation(key)).toEqual([`annotations.ingress[0].key ${error}`])
  })

  it('accept capital letters in the domain of an annotation, but not of a label', () => {
    expect(annotation('Example.com/name')).toEqual([])
    expect(label('Example.com/name')).toEqual(['labels.service[0].key matches'])
  })

  it.each([null, '', 'true', 'v1.2.3', 'MyValue', 'my_value', '12345', long])(
    'accept the value %s of a label',
    (value) => {
      expect(label('tier', value)).toEqual([])
    },
  )

  it.each([
    [`${long}a`, 'max'],
    ['-a', 'matches'],
    ['a.', 'matches'],
    ['a/b', 'matches'],
    ['with space', 'matches'],
    ['{{ versionName }}', 'matches'],
  ])('refuse the value %s of a label with a problem at the value', (value, error) => {
    expect(label('tier', value)).toEqual([`labels.service[0].value ${error}`])
    expect(annotation('tier', value)).toEqual([])
  })

  it('report one problem per property, for all properties', () => {
    expect(
      problems({
        labels: {
          deployment: [
            { key: 'a!b', value: 'a b' },
            { key: 'fine', value: '-' },
          ],
        },
        extraLBAnnotations: [{ key: '/x', value: 'any thing' }],
      }),
    ).toEqual([
      'labels.deployment[0].key matches',
      'labels.deployment[0].value matches',
      'labels.deployment[1].value matches',
      'extraLBAnnotations[0].key matches',
    ])
  })

  it('limit the annotations of one object to 256 KiB together, in bytes', () => {
    // One text cannot have this size, because the contract limits it to less.
    const rows = (bytes: number) => {
      const half = Math.floor(bytes / 2)
      return [half, bytes - half].map((size, index) => ({ key: `k${index}`, value: 'ü'.repeat((size - 2) / 2) }))
    }
    expect(problems({ annotations: { service: rows(annotationBytesMax) } })).not.toContain('annotations.service max')
    const more = rows(annotationBytesMax + 4)
    expect(problems({ annotations: { service: more } })).toContain('annotations.service max')
    expect(problems({ annotations: { service: [more[0] ?? more[1]], ingress: [more[1]] } as never })).not.toContain(
      'annotations.service max',
    )
    // A service behind a load balancer has the annotations of both.
    const [own, beside] = more
    const both = { annotations: { service: own ? [own] : [] }, extraLBAnnotations: beside ? [beside] : [] }
    expect(problems({ ...both, useLoadBalancer: true })).toContain('annotations.service max')
    expect(problems({ ...both, useLoadBalancer: false })).not.toContain('annotations.service max')
  })

  it('apply to Kubernetes nodes only, because on a Docker node they have no effect', () => {
    const config = {
      labels: { service: [{ key: 'a!b', value: 'a b' }] },
      extraLBAnnotations: [{ key: '/', value: '' }],
    }
    expect(problems(config, { nodeType: 'docker' })).toEqual([])
    expect(problems(config, { nodeType: 'k8s' })).toHaveLength(3)
  })
})
