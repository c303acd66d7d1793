import { EventWatcherWrite, type PipelineEvent, pipelineEvents, type ResponseOf } from '@crux/contract'
import { fillPlaceholders, mergePipelineInputs, offeredHookKinds } from '@crux/rules'
import { z } from 'zod'
import { InputRows } from './pipeline-input-values.ts'

type Watcher = ResponseOf<'pipelines.get'>['eventWatchers'][number]
type Registry = ResponseOf<'registries.list'>[number]
type Input = { id?: string; key: string; value: string }

export const EventWatcherValues = z.object({
  name: EventWatcherWrite.shape.name,
  event: z.enum(pipelineEvents),
  registryId: EventWatcherWrite.shape.registryId,
  imageNameStartsWith: z.string().trim().max(255),
  inputs: InputRows,
})
type Values = z.output<typeof EventWatcherValues>

export const fromEventWatcher = (watcher: Watcher | undefined): z.input<typeof EventWatcherValues> => ({
  name: watcher?.name ?? '',
  event: watcher?.event ?? 'image-push',
  registryId: watcher?.registry.id ?? '',
  imageNameStartsWith: watcher?.filters.imageNameStartsWith ?? '',
  inputs: watcher?.triggerInputs ?? [],
})

export const toEventWatcherWrite = ({ name, event, registryId, imageNameStartsWith, inputs }: Values) => ({
  name,
  event,
  registryId,
  filters: { imageNameStartsWith },
  triggerInputs: inputs,
})

/** The registries that can report an event. Docker Hub and GitHub do not report pulls. */
export const listReportingRegistries = (registries: readonly Registry[], event: PipelineEvent): Registry[] =>
  registries.filter((registry) => {
    const kinds = offeredHookKinds(registry)
    return event === 'image-push' ? kinds.length > 0 : kinds.includes('v2')
  })

export type PreviewedInput = {
  key: string
  value: string /** from the pipeline, not from the watcher */
  inherited: boolean
}

/**
 * The inputs of the run that an example image would start. Labels are not known before an image is there.
 *
 * @param image such as `shop/web:1.2`
 */
export function previewInputs(
  ofPipeline: readonly Input[],
  ofWatcher: readonly Input[],
  image: string,
  toLabelText: (key: string) => string,
): PreviewedInput[] {
  const colon = image.lastIndexOf(':')
  const hasTag = colon > image.lastIndexOf('/')
  const example = {
    name: hasTag ? image.slice(0, colon) : image,
    tag: hasTag ? image.slice(colon + 1) : '',
    label: toLabelText,
  }
  return mergePipelineInputs(ofPipeline, ofWatcher)
    .filter(({ key }) => key.trim() !== '')
    .map((input) => ({
      key: input.key,
      value: fillPlaceholders(input.value, example),
      inherited: !ofWatcher.includes(input),
    }))
}
