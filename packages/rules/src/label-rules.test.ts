import type { ContainerConfigFields } from '@crux/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { finalConfig } from './final-config.ts'
import { applyLabelRules, labelRuleProblems, labelRules } from './label-rules.ts'

const getRules = (words: Record<string, string>) =>
  labelRules(Object.fromEntries(Object.entries(words).map(([key, value]) => [`org.dyrectorio.env.${key}`, value])))
const final = (image: ContainerConfigFields) =>
  finalConfig({ image, layers: [], imageName: 'app', versionName: '1' }).config

describe('labelRules', () => {
  it('reads type, required, secret and default, in any order and with spaces', () => {
    expect(getRules({ A: 'string', B: 'required, int ,default:8080', C: 'secret,string,required' })).toEqual({
      rules: [
        { key: 'A', label: 'org.dyrectorio.env.A', type: 'string', required: false, secret: false },
        { key: 'B', label: 'org.dyrectorio.env.B', type: 'int', required: true, secret: false, default: '8080' },
        { key: 'C', label: 'org.dyrectorio.env.C', type: 'string', required: true, secret: true },
      ],
      problems: [],
    })
  })

  it('keeps everything after the first colon of a default', () => {
    expect(getRules({ URL: 'string,default:http://host:80/' }).rules[0]?.default).toBe('http://host:80/')
    expect(getRules({ E: 'string,default:' }).rules[0]?.default).toBe('')
  })

  it('prefers the label of Crux where an image has both, and ignores other labels', () => {
    const { rules, problems } = labelRules({
      'org.dyrectorio.env.A': 'string,default:theirs',
      'dev.crux.env.A': 'string,default:ours',
      'org.opencontainers.image.title': 'x',
    })
    expect(rules.map((rule) => rule.default)).toEqual(['ours'])
    expect(problems).toEqual([])
  })

  it.each([
    ['an unknown word', 'string,maybe', /"maybe" is no word/],
    ['no type', 'required', /type is missing/],
    ['nothing', '', /no word/],
    ['two types', 'string,int', /string and int at once/],
    ['a default of another type', 'int,default:many', /not a whole number/],
  ])('reports %s as a problem, and keeps the other rules', (_, value, description) => {
    const { rules, problems } = getRules({ BAD: value, GOOD: 'string' })
    expect(rules.map((rule) => rule.key)).toEqual(['GOOD'])
    expect(problems).toEqual([{ label: 'org.dyrectorio.env.BAD', description: expect.stringMatching(description) }])
  })

  it('does not throw for any label value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), (words) => {
        const { rules, problems } = getRules(words)
        expect(rules.length + problems.length).toBe(Object.keys(words).length)
      }),
    )
  })
})

describe('applyLabelRules', () => {
  const { rules } = getRules({
    PLAIN: 'string',
    PORT: 'int,default:80',
    HOST: 'string,required',
    TOKEN: 'string,secret,required',
    EXTRA: 'string,secret',
  })

  it('adds required variables and those with a default, and secrets as keys', () => {
    expect(applyLabelRules({ tty: true }, rules)).toEqual({
      tty: true,
      environment: [
        { key: 'PORT', value: '80' },
        { key: 'HOST', value: '' },
      ],
      secrets: [
        { key: 'TOKEN', required: true },
        { key: 'EXTRA', required: false },
      ],
    })
  })

  it('keeps existing values, removed keys and secrets, and changes nothing when it is applied again', () => {
    const fields: ContainerConfigFields = {
      environment: [
        { id: '1', key: 'PORT', value: '' },
        { id: '2', key: 'TOKEN', value: null },
      ],
      secrets: [{ id: '3', key: 'HOST', required: false }],
    }
    const once = applyLabelRules(fields, rules)
    expect(once.environment).toEqual(fields.environment)
    expect(once.secrets).toEqual([...(fields.secrets ?? []), { key: 'EXTRA', required: false }])
    expect(applyLabelRules(once, rules)).toBe(once)
  })
})

describe('labelRuleProblems', () => {
  const { rules } = getRules({
    PORT: 'int',
    DEBUG: 'boolean',
    HOST: 'string,required',
    TOKEN: 'string,secret,required',
  })
  const problems = (image: ContainerConfigFields) =>
    labelRuleProblems(final(image), rules).map(({ property, error }) => {
      expect(error).toBe('instanceLabelRules')
      return property
    })

  it('reports missing values, and no existing ones', () => {
    expect(problems({})).toEqual(['environment.HOST', 'secrets.TOKEN'])
    expect(
      problems({ environment: [{ key: 'HOST', value: 'h' }], secrets: [{ key: 'TOKEN', required: true }] }),
    ).toEqual([])
    expect(problems(applyLabelRules({}, rules))).toEqual(['environment[0].value'])
  })

  it('checks types only where there is a value', () => {
    const secrets = [{ key: 'TOKEN', required: true }]
    const env = (values: Record<string, string>) => ({
      secrets,
      environment: Object.entries({ HOST: 'h', ...values }).map(([key, value]) => ({ key, value })),
    })
    expect(problems(env({ PORT: '80', DEBUG: 'False' }))).toEqual([])
    expect(problems(env({ PORT: '-1', DEBUG: '0' }))).toEqual([])
    expect(problems(env({ PORT: '', DEBUG: '' }))).toEqual([])
    expect(problems(env({ PORT: '8o', DEBUG: 'yes' }))).toEqual(['environment[1].value', 'environment[2].value'])
  })
})
