import {
  Description,
  Icon,
  Name,
  PipelineRepository,
  type PipelineType,
  type PipelineWrite,
  pipelineTypes,
  type ResponseOf,
} from '@crux/contract'
import i18n from 'i18next'
import { z } from 'zod'
import { InputRows } from './pipeline-input-values.ts'

type Details = ResponseOf<'pipelines.get'>
const { organization, project } = PipelineRepository.shape

/**
 * The values of the form. A stored token is never sent to the browser, so an empty one keeps it.
 *
 * @param tokenType the service that the stored token is for; undefined where none is stored
 */
export const pipelineValues = (tokenType: PipelineType | undefined) =>
  z
    .object({
      name: Name,
      description: Description,
      icon: Icon,
      type: z.enum(pipelineTypes),
      organization,
      project,
      branch: z.string().trim().max(255),
      triggerName: z.string().trim().max(255),
      inputs: InputRows,
      token: z.string().trim().max(8_192),
    })
    .superRefine((values, context) => {
      const refuseEmpty = (path: 'triggerName' | 'token') =>
        context.addIssue({ code: 'custom', path: [path], message: i18n.t('common:rules.required') })
      if (values.triggerName === '' && hasTriggerName(values.type)) refuseEmpty('triggerName')
      if (values.token === '' && values.type !== tokenType) refuseEmpty('token')
    })
export type PipelineValues = z.output<ReturnType<typeof pipelineValues>>
export type PipelineFormInput = z.input<ReturnType<typeof pipelineValues>>

/** A project of GitLab has one pipeline, so it needs no name. */
export const hasTriggerName = (type: PipelineType): type is Exclude<PipelineType, 'gitlab'> => type !== 'gitlab'

export const emptyPipeline: PipelineFormInput = {
  name: '',
  description: '',
  icon: null,
  type: 'azure',
  organization: '',
  project: '',
  branch: '',
  triggerName: '',
  inputs: [],
  token: '',
}

export const fromPipeline = (pipeline: Details): PipelineFormInput => ({
  ...emptyPipeline,
  name: pipeline.name,
  description: pipeline.description ?? '',
  icon: pipeline.icon ?? null,
  type: pipeline.type,
  organization: pipeline.repository.organization,
  project: pipeline.repository.project,
  branch: pipeline.repository.branch ?? '',
  triggerName: pipeline.trigger.name,
  inputs: pipeline.trigger.inputs,
})

export const toPipelineWrite = (values: PipelineValues): PipelineWrite => ({
  name: values.name,
  description: values.description || null,
  icon: values.icon,
  type: values.type,
  repository: {
    organization: values.organization,
    project: values.project,
    branch: values.branch || null,
  },
  trigger: { name: hasTriggerName(values.type) ? values.triggerName : '', inputs: values.inputs },
  ...(values.token !== '' && { token: values.token }),
})
