import type { ResponseOf } from '@crux/contract'
import { parseImageName } from '@crux/rules'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Database } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { imagePageQuery, tagsQuery } from '../../api/registry-browser.ts'
import { Button } from '../../components/Button.tsx'
import { Checkbox } from '../../components/Checkbox.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { Field, Select, TextInput } from '../../components/Field.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { RegistryProblem } from '../../components/RegistryProblem.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { links } from '../../routing/links.ts'
import { RegistryPicker } from './RegistryPicker.tsx'
import { sortTags } from './tags.ts'

type Registry = ResponseOf<'registries.list'>[number]
type Props = {
  teamSlug: string
  /** The registry to begin with: the one that the last image came from. */
  firstRegistryId?: string
  onAdd: (images: { registryId: string; images: string[] }[]) => void
  onClose: () => void
}

/** Chooses images of one registry and adds them all; changing the registry clears the choice. */
export function AddImages({ teamSlug, firstRegistryId, onAdd, onClose }: Props) {
  const { t } = useTranslation('versions')
  const query = useQuery(apiQuery('registries.list', { params: { teamSlug } }))
  const [chosenRegistry, setRegistry] = useState<string | null>(null)
  /** Name to tag; an empty tag is chosen later. */
  const [images, setImages] = useState<ReadonlyMap<string, string>>(new Map())
  const [typed, setTyped] = useState('')
  const find = (id: string | null | undefined) => query.data?.find((one) => one.id === id)
  const registry = find(chosenRegistry) ?? find(firstRegistryId) ?? query.data?.[0]
  const free = registry?.type === 'unchecked'
  const parsed = parseImageName(typed, { mayNameRegistry: true })
  const selection = free
    ? parsed.ok
      ? [typed.trim()]
      : []
    : [...images].map(([name, tag]) => (tag ? `${name}:${tag}` : name))

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!registry || selection.length === 0) return
    onAdd([{ registryId: registry.id, images: selection }])
    onClose()
  }
  const choose = (name: string, on: boolean) =>
    setImages(on ? new Map(images).set(name, '') : new Map([...images].filter(([image]) => image !== name)))
  const chooseRegistry = (id: string) => {
    setRegistry(id)
    setImages(new Map())
    setTyped('')
  }
  const chooseTag = (name: string, tag: string) => setImages(new Map(images).set(name, tag))
  return (
    <Dialog
      open
      shape="sheet"
      title={t('addImages.title')}
      onClose={onClose}
      initialFocus={(content) => content.querySelector('input')}
      footer={
        <>
          {images.size > 0 && (
            <p className="mr-auto min-w-0 truncate text-small text-ink-2" title={selection.join(', ')}>
              {t('addImages.chosen', { names: selection.join(', ') })}
            </p>
          )}
          <Button
            type="submit"
            form="add-images"
            variant="main"
            disabledReason={selection.length === 0 && t('addImages.chooseFirst')}
          >
            {t('addImages.submit', { count: selection.length })}
          </Button>
        </>
      }
    >
      <QueryView query={query} skeleton={<SkeletonRows rows={4} />} empty={<NoRegistry teamSlug={teamSlug} />}>
        {(registries) => (
          <form id="add-images" onSubmit={submit} className="grid grid-cols-1 gap-4">
            <Field label={t('addImages.registry')} group>
              <div>
                <RegistryPicker registries={registries} value={registry?.id ?? ''} onChange={chooseRegistry} />
              </div>
            </Field>
            {registry &&
              (free ? (
                <Field
                  label={t('addImages.reference')}
                  help={t('addImages.referenceHelp')}
                  error={typed !== '' && !parsed.ok ? `${parsed.problem}.` : null}
                >
                  <TextInput
                    mono
                    value={typed}
                    placeholder="nginx:1.27"
                    onChange={(event) => setTyped(event.target.value)}
                  />
                </Field>
              ) : (
                <Found
                  key={registry.id}
                  teamSlug={teamSlug}
                  registry={registry}
                  chosen={images}
                  onChoose={choose}
                  onTag={chooseTag}
                />
              ))}
          </form>
        )}
      </QueryView>
    </Dialog>
  )
}

type FoundProps = {
  teamSlug: string
  registry: Registry
  /** Name to tag. */
  chosen: ReadonlyMap<string, string>
  onChoose: (name: string, on: boolean) => void
  onTag: (name: string, tag: string) => void
}

/** The maximum number of listed tags. */
const shownMax = 200

/** What is chosen stays in its place, ticked: a list never moves under the pointer. */
function Found({ teamSlug, registry, chosen, onChoose, onTag }: FoundProps) {
  const { t } = useTranslation('versions')
  const [filter, setFilter] = useState('')
  // The first page; the search finds the others.
  const query = useQuery({ ...imagePageQuery(teamSlug, registry.id, filter, 0), placeholderData: (before) => before })
  const { names = [], total = 0 } = query.data ?? {}
  const counted = total > names.length ? 'addImages.foundMore' : 'addImages.found'
  return (
    <div className="grid grid-cols-1 gap-3">
      <SearchBox value={filter} onChange={setFilter} delayMs={500} label={t('addImages.search')} className="w-full" />
      {query.isError ? (
        <RegistryProblem error={query.error} retry={() => void query.refetch()} />
      ) : !query.data ? (
        <SkeletonRows rows={6} />
      ) : (
        <>
          <p role="status" className="text-small text-ink-2">
            {query.isFetching
              ? t('addImages.searching', { registry: registry.name })
              : total === 0
                ? t('addImages.nothing', { registry: registry.name })
                : t(counted, { count: total, listed: names.length })}
          </p>
          {names.length > 0 && (
            <ul className="rounded-box border border-line">
              {names.map((name) => (
                <li
                  key={name}
                  className="flex h-9 items-center border-b border-line pr-1.5 last:border-0 hover:bg-hover"
                >
                  {/* biome-ignore lint/a11y/noLabelWithoutControl: the checkbox inside is a labelable button */}
                  <label className="flex h-full min-w-0 flex-1 items-center gap-2 px-3">
                    <Checkbox checked={chosen.has(name)} onChange={(on) => onChoose(name, on)} />
                    <code className="min-w-0 truncate">{name}</code>
                  </label>
                  {chosen.has(name) && (
                    <TagSelect
                      teamSlug={teamSlug}
                      registryId={registry.id}
                      image={name}
                      tag={chosen.get(name) ?? null}
                      onTag={(tag) => onTag(name, tag)}
                    />
                  )}
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </div>
  )
}

type TagSelectProps = {
  teamSlug: string
  registryId: string
  image: string
  tag: string | null
  onTag: (tag: string) => void
}

/** The tag beside the tick, newest first; without one the image is added all the same. */
function TagSelect({ teamSlug, registryId, image, tag, onTag }: TagSelectProps) {
  const { t } = useTranslation('versions')
  const query = useQuery(tagsQuery(teamSlug, registryId, image))
  const tags = sortTags(query.data ?? [], { by: 'date', direction: 'desc' }).slice(0, shownMax)
  return (
    <Select
      aria-label={t('tags.title', { name: image })}
      value={tag ?? ''}
      onChange={(event) => onTag(event.target.value)}
      className="w-36! shrink-0"
      none={t(query.isPending ? 'addImages.tagsComing' : 'addImages.tagLater')}
      options={tags.map(({ name }) => ({ value: name, label: name }))}
    />
  )
}

function NoRegistry({ teamSlug }: { teamSlug: string }) {
  const { t } = useTranslation('versions')
  const navigate = useNavigate()
  return (
    <EmptyState
      icon={Database}
      title={t('addImages.none')}
      text={t('addImages.noneText')}
      action={
        <Button variant="main" onClick={() => void navigate(links.registries(teamSlug, 'new'))}>
          {t('addImages.connect')}
        </Button>
      }
    />
  )
}
