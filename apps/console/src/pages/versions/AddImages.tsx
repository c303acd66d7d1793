import type { Result } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Database, X } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { imagesQuery } from '../../api/registry-browser.ts'
import { Button, IconButton } from '../../components/Button.tsx'
import { Checkbox } from '../../components/Checkbox.tsx'
import { Chips } from '../../components/Chips.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Field, TextInput } from '../../components/Field.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { links } from '../../links.ts'
import { isImageReference } from './image-reference.ts'

type Registry = Result<'registries.list'>[number]
type Props = {
  teamSlug: string
  onAdd: (images: { registryId: string; images: string[] }[]) => void
  onClose: () => void
}

/** Chooses images of one registry and adds them all; changing the registry starts anew (ui.md U9.2). */
export function AddImages({ teamSlug, onAdd, onClose }: Props) {
  const { t } = useTranslation('versions')
  const query = useQuery(apiQuery('registries.list', { params: { teamSlug } }))
  const [chosenRegistry, setRegistry] = useState<string | null>(null)
  const [images, setImages] = useState<string[]>([])
  const [typed, setTyped] = useState('')
  const registry = query.data?.find((one) => one.id === chosenRegistry) ?? query.data?.[0]
  const free = registry?.type === 'unchecked'
  const selection = free ? (isImageReference(typed) ? [typed.trim()] : []) : images

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!registry || selection.length === 0) return
    onAdd([{ registryId: registry.id, images: selection }])
    onClose()
  }
  const choose = (name: string, on: boolean) =>
    setImages(on ? [...images, name] : images.filter((image) => image !== name))
  return (
    <Dialog
      open
      shape="sheet"
      title={t('addImages.title')}
      onClose={onClose}
      initialFocus={(content) => content.querySelector('input')}
      footer={
        <Button
          type="submit"
          form="add-images"
          variant="main"
          disabledReason={selection.length === 0 && t('addImages.chooseFirst')}
        >
          {t('addImages.submit', { count: selection.length })}
        </Button>
      }
    >
      <QueryView
        query={query}
        skeleton={<SkeletonRows rows={4} />}
        empty={{ when: (all) => all.length === 0, show: <NoRegistry teamSlug={teamSlug} /> }}
      >
        {(registries) => (
          <form id="add-images" onSubmit={submit} className="grid gap-4">
            <Field label={t('addImages.registry')} group>
              <div>
                <Chips
                  label={t('addImages.registry')}
                  size="md"
                  value={registry?.id ?? ''}
                  onChange={(id) => {
                    setRegistry(id)
                    setImages([])
                    setTyped('')
                  }}
                  options={registries.map((one) => ({ value: one.id, label: one.name }))}
                />
              </div>
            </Field>
            {registry &&
              (free ? (
                <Field
                  label={t('addImages.reference')}
                  help={t('addImages.referenceHelp')}
                  error={typed !== '' && !isImageReference(typed) ? t('addImages.referenceInvalid') : null}
                >
                  <TextInput
                    mono
                    value={typed}
                    placeholder="nginx:1.27"
                    onChange={(event) => setTyped(event.target.value)}
                  />
                </Field>
              ) : (
                <Found key={registry.id} teamSlug={teamSlug} registry={registry} chosen={images} onChoose={choose} />
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
  chosen: string[]
  onChoose: (name: string, on: boolean) => void
}

/** More than this is not listed: the search is the way to the rest. */
const shownMax = 200

function Found({ teamSlug, registry, chosen, onChoose }: FoundProps) {
  const { t } = useTranslation('versions')
  const [filter, setFilter] = useState('')
  const query = useQuery({ ...imagesQuery(teamSlug, registry.id, filter), placeholderData: (before) => before })
  const open = (query.data ?? []).filter((name) => !chosen.includes(name))
  return (
    <div className="grid gap-3">
      {chosen.length > 0 && (
        <ul aria-label={t('addImages.chosen')} className="rounded-box border border-line">
          {chosen.map((name) => (
            <li key={name} className="flex h-9 items-center gap-2 border-b border-line px-3 last:border-0">
              <code className="min-w-0 flex-1 truncate">{name}</code>
              <IconButton
                icon={X}
                size="sm"
                label={t('addImages.unchoose', { name })}
                onClick={() => onChoose(name, false)}
              />
            </li>
          ))}
        </ul>
      )}
      <SearchBox value={filter} onChange={setFilter} delayMs={500} label={t('addImages.search')} className="w-full" />
      {query.isError ? (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      ) : !query.data ? (
        <SkeletonRows rows={6} />
      ) : (
        <>
          <p role="status" className="text-small text-ink-2">
            {query.isFetching
              ? t('addImages.searching', { registry: registry.name })
              : query.data.length === 0
                ? t('addImages.nothing', { registry: registry.name })
                : t('addImages.found', { count: query.data.length })}
          </p>
          {open.length > 0 && (
            <ul className="rounded-box border border-line">
              {open.slice(0, shownMax).map((name) => (
                <li key={name} className="border-b border-line last:border-0">
                  {/* biome-ignore lint/a11y/noLabelWithoutControl: the checkbox inside is a labelable button */}
                  <label className="flex h-9 items-center gap-2 px-3 hover:bg-hover">
                    <Checkbox checked={false} onChange={() => onChoose(name, true)} />
                    <code className="min-w-0 truncate">{name}</code>
                  </label>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </div>
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
