import { copyFields, fieldDifferences, getFields, newId } from '@crux/config-editor'
import { type ContainerConfigField, type ContainerConfigFields, containerConfigTypes } from '@crux/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../../api/client.ts'
import { Button } from '../../../components/Button.tsx'
import { Checkbox } from '../../../components/Checkbox.tsx'
import { Chips } from '../../../components/Chips.tsx'
import { Dialog } from '../../../components/Dialog.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { SearchBox } from '../../../components/SearchBox.tsx'
import { SkeletonRows } from '../../../components/Skeletons.tsx'
import { Tag } from '../../../components/Tag.tsx'
import { changeLines } from '../../deployments/change-lines.ts'
import { DiffLines } from '../../deployments/DiffLines.tsx'
import { useConfigForm } from '../form/config-context.ts'

type Chosen = { id: string; name: string; place: string }
type Props = { onClose: () => void }

/** Compares this configuration with another one of the team; differences can be copied by field. */
export function CompareDialog({ onClose }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const [chosen, setChosen] = useState<Chosen | null>(null)
  if (chosen) return <Differences chosen={chosen} onBack={() => setChosen(null)} onClose={onClose} />
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('compare.title')}
      description={t('compare.text')}
      width="wide:w-[640px]"
      initialFocus={(content) => content.querySelector('input')}
    >
      <Choice onChoose={setChosen} />
    </Dialog>
  )
}

const listed = 30

function Choice({ onChoose }: { onChoose: (chosen: Chosen) => void }) {
  const { t } = useTranslation(['configuration', 'common'])
  const { teamSlug, configId, kind } = useConfigForm()
  const [filter, setFilter] = useState('')
  const [type, setType] = useState<(typeof containerConfigTypes)[number]>(kind)
  const list = useQuery({
    ...apiQuery('container-configurations.list', {
      params: { teamSlug },
      query: { skip: 0, take: listed, type, ...(filter && { filter }) },
    }),
    placeholderData: keepPreviousData,
  })
  const others = list.data?.items.filter((one) => one.id !== configId) ?? []
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <SearchBox
          label={t('compare.find')}
          value={filter}
          onChange={setFilter}
          delayMs={250}
          className="min-w-48 flex-1"
        />
        <Chips
          label={t('compare.type')}
          value={type}
          onChange={setType}
          options={containerConfigTypes.map((value) => ({ value, label: t(`kind.${value}`) }))}
        />
      </div>
      {list.isError ? (
        <ErrorState error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <SkeletonRows rows={6} />
      ) : others.length === 0 ? (
        <p className="py-6 text-center text-ink-2">{t('compare.none')}</p>
      ) : (
        <ul className="divide-y divide-line overflow-hidden rounded-box border border-line">
          {others.map((one) => (
            <li key={one.id}>
              <button
                type="button"
                onClick={() => onChoose(one)}
                className="flex min-h-9 w-full flex-wrap items-center gap-x-3 px-3 py-1.5 text-left hover:bg-hover"
              >
                <span className="mono font-strong">{one.name}</span>
                <span className="min-w-0 text-ink-2">{one.place}</span>
                <span className="ml-auto">
                  <Tag>{t(`kind.${one.type}`)}</Tag>
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function Differences({ chosen, onBack, onClose }: { chosen: Chosen; onBack: () => void; onClose: () => void }) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const params = { teamSlug: form.teamSlug, configId: chosen.id }
  const other = useQuery(apiQuery('container-configurations.get', { params }))
  const fields: ContainerConfigFields | undefined = other.data && getFields(other.data)
  const found = fields ? fieldDifferences(form.own, fields) : []
  /** Not selected by default: names belong to their containers, and settings that exist only here are rarely meant to be cleared. */
  const usual = found.filter(({ field, onlyHere }) => !onlyHere && field !== 'name').map(({ field }) => field)
  const [picked, setPicked] = useState<readonly ContainerConfigField[] | null>(null)
  const taken = picked ?? usual
  const toggle = (field: ContainerConfigField, on: boolean) =>
    setPicked(on ? [...taken, field] : taken.filter((one) => one !== field))
  const apply = () => {
    if (fields) form.editAll(copyFields(form.own, fields, taken, newId))
    onClose()
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('compare.with', { name: chosen.name })}
      description={chosen.place}
      width="wide:w-[720px]"
      footer={
        <>
          <Button onClick={onBack}>{t('compare.back')}</Button>
          <Button
            variant="main"
            disabledReason={form.readOnly ?? (taken.length === 0 && t('compare.nothingPicked'))}
            onClick={apply}
          >
            {t('compare.take', { count: taken.length })}
          </Button>
        </>
      }
    >
      {other.isError ? (
        <ErrorState error={other.error} retry={() => void other.refetch()} />
      ) : other.isPending ? (
        <SkeletonRows rows={5} />
      ) : found.length === 0 ? (
        <p className="py-6 text-center text-ink-2">{t('compare.same')}</p>
      ) : (
        <div className="grid gap-3">
          <p className="text-small text-ink-2">{t('compare.legend', { name: chosen.name })}</p>
          {found.map(({ field, changes, onlyHere }) => (
            <div key={field} className="grid gap-1.5">
              <span className="flex items-center gap-2">
                <Checkbox id={`take-${field}`} checked={taken.includes(field)} onChange={(on) => toggle(field, on)} />
                <label htmlFor={`take-${field}`} className="mono font-strong">
                  {field}
                </label>
                {onlyHere && <span className="text-small text-ink-2">{t('compare.onlyHere')}</span>}
              </span>
              <DiffLines lines={changeLines(changes)} className="max-h-60 overflow-y-auto" />
            </div>
          ))}
        </div>
      )}
    </Dialog>
  )
}
