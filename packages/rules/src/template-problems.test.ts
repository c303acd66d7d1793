import { type TemplateFile as Template, TemplateFile } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { findTemplateProblems, getTemplateImageName } from './template-problems.ts'

const library = { name: 'Library', type: 'hub', details: { imageNamePrefix: 'library', public: true } } as const
const github = { name: 'GitHub', type: 'unchecked', details: { url: 'ghcr.io', public: true } } as const
const template = (more: Partial<Template> = {}): Template =>
  TemplateFile.parse({
    name: 'A shop',
    description: 'A shop with its database',
    technologies: ['PostgreSQL'],
    registries: [library],
    images: [{ registryName: 'Library', image: 'postgres', tag: '17', config: { name: 'database' } }],
    ...more,
  })
const image = (config: object, more: object = {}) => ({
  registryName: 'Library',
  image: 'postgres',
  tag: '17',
  config,
  ...more,
})
const properties = (more: object) => findTemplateProblems(template(more)).map(({ property }) => property)

describe('a template', () => {
  it('has no problems when every member of a team can apply it', () => {
    expect(findTemplateProblems(template())).toEqual([])
  })

  it('names its images by the addresses of their registries', () => {
    const both = template({
      registries: [library, github],
      images: [
        ...template().images,
        { registryName: 'GitHub', image: 'mlflow/mlflow', tag: 'v3', config: { name: 'mlflow' } },
      ],
    })
    expect(findTemplateProblems(both)).toEqual([])
    expect([0, 1, 2].map((index) => getTemplateImageName(both, index))).toEqual([
      'docker.io/library/postgres',
      'ghcr.io/mlflow/mlflow',
      undefined,
    ])
  })

  it.each<[string, object, string[]]>([
    [
      'an image in a registry that it does not have',
      { images: [image({}), image({ name: 'web' }, { registryName: 'Other' })] },
      ['images[1].registryName'],
    ],
    ['a name with a tag', { images: [image({}, { image: 'postgres:17' })] }, ['images[0].image']],
    ['a name that no engine reads', { images: [image({}, { image: 'Post gres' })] }, ['images[0].image']],
    ['a registry without images', { registries: [library, github] }, ['registries[1].name']],
    ['two registries with one name', { registries: [library, { ...github, name: 'Library' }] }, ['registries[1].name']],
    [
      'an address that is none',
      {
        registries: [{ ...github, details: { url: 'ghcr.io/path?x', public: true } }],
        images: [image({}, { registryName: 'GitHub' })],
      },
      ['registries[0].details.url', 'images[0].image'],
    ],
    [
      'a setting with an error',
      { images: [image({ volumes: [{ name: 'a/b', path: '/x' }] })] },
      ['images[0].config.volumes[0].name'],
    ],
    [
      'a setting that only admins may set',
      { images: [image({ networkMode: 'host' })] },
      ['images[0].config.networkMode'],
    ],
    [
      'a value of a secret',
      { images: [image({ secrets: [{ key: 'A', required: true, value: 'hunter2' }] })] },
      ['images[0].config.secrets[0].value'],
    ],
    [
      'a generated secret that nothing requires',
      { images: [image({ secrets: [{ key: 'A', required: false, generate: 'a' }] })] },
      ['images[0].config.secrets[0].required'],
    ],
    [
      'a secret that the environment overrides',
      { images: [image({ environment: [{ key: 'A', value: '1' }], secrets: [{ key: 'A', required: true }] })] },
      ['images[0].config.secrets[0].key'],
    ],
    ['two containers with one name', { images: [image({}), image({})] }, ['images[1].config.name']],
    ['a long name', { images: [image({ name: 'a'.repeat(41) })] }, ['images[0].config.name']],
    [
      'a port that two containers publish',
      {
        images: [
          image({ ports: [{ internal: 1, external: 80 }] }),
          image({ name: 'web', ports: [{ internal: 2, external: 80, bindAddress: '127.0.0.1' }] }),
        ],
      },
      ['images[1].config.ports[0].external'],
    ],
  ])('is refused with %s', (_, more, expected) => {
    expect(properties(more)).toEqual(expected)
  })

  it.each<[string, object]>([
    ['credentials', { registries: [{ ...library, details: { ...library.details, user: 'a', token: 'b' } }] }],
    ['a private registry', { registries: [{ ...library, details: { ...library.details, public: false } }] }],
    ['a registry that needs credentials', { registries: [{ ...library, type: 'github' }] }],
    ['no images', { images: [] }],
    ['an unknown member', { icon: 'cat' }],
    ['a group that is no slug', { images: [image({ secrets: [{ key: 'A', required: true, generate: 'A b' }] })] }],
  ])('does not parse with %s', (_, more) => {
    expect(TemplateFile.safeParse({ ...template(), ...more }).success).toBe(false)
  })
})
