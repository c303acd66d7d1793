import i18n from 'i18next'
import { beforeAll, expect, test } from 'vitest'
import { getInputFields } from './pipeline-input-values.ts'
import { emptyPipeline, fromPipeline, pipelineValues, toPipelineWrite } from './pipeline-values.ts'

beforeAll(() => i18n.init({ lng: 'en', resources: {} }))

const typed = {
  ...emptyPipeline,
  name: 'Release',
  organization: ' acme ',
  project: 'shop',
  triggerName: 'release',
  token: 'secret',
}
const listProblems = (values: object, stored?: 'azure' | 'github' | 'gitlab') =>
  (pipelineValues(stored).safeParse({ ...typed, ...values }).error?.issues ?? []).map(({ path }) => path.join('.'))

test('a new pipeline needs a token, and the name of its trigger except at GitLab', () => {
  expect(listProblems({})).toEqual([])
  expect(listProblems({ token: '', triggerName: ' ' })).toEqual(['triggerName', 'token'])
  expect(listProblems({ type: 'gitlab', triggerName: '' })).toEqual([])
})

test('a stored token is kept for its own service only', () => {
  expect(listProblems({ token: '' }, 'azure')).toEqual([])
  expect(listProblems({ token: '', type: 'github' }, 'azure')).toEqual(['token'])
  expect(toPipelineWrite(pipelineValues('azure').parse({ ...typed, token: '' }))).not.toHaveProperty('token')
})

test('keys of inputs are unique and have no spaces', () => {
  const inputs = [
    { key: 'ENV', value: '' },
    { key: ' ENV ', value: 'prod' },
    { key: 'A B', value: '' },
    { key: '', value: '' },
  ]
  expect(listProblems({ inputs })).toEqual(['inputs.2.key', 'inputs.3.key', 'inputs.1.key'])
  expect(listProblems({ inputs: inputs.slice(0, 2) })).toEqual(['inputs.1.key'])
})

test('the name of a trigger is not sent to GitLab, and an empty branch is the default one', () => {
  const write = toPipelineWrite(pipelineValues(undefined).parse({ ...typed, type: 'gitlab' }))
  expect(write).toMatchObject({ repository: { organization: 'acme', branch: null }, trigger: { name: '' } })
})

test('a stored pipeline comes back as it was, with the ids of its inputs', () => {
  const inputs = [{ id: 'one', key: 'ENV', value: 'prod' }]
  const repository = { organization: 'acme', project: 'shop', branch: 'main' }
  const trigger = { name: 'release.yml', inputs }
  const audit = { createdAt: '', createdBy: '', updatedAt: '', updatedBy: '' }
  const values = fromPipeline({
    id: '',
    name: 'Release',
    type: 'github',
    repository,
    trigger,
    audit,
    eventWatchers: [],
  })
  expect(toPipelineWrite(pipelineValues('github').parse(values))).toMatchObject({ repository, trigger })
})

test('errors of the server at a row are shown in the row', () => {
  expect(getInputFields('trigger.inputs', [{}])).toEqual({
    'trigger.inputs[0]': 'inputs.0.key',
    'trigger.inputs[0].key': 'inputs.0.key',
    'trigger.inputs[0].value': 'inputs.0.value',
  })
})
