import { getField } from '@crux/config-editor'
import type { ResponseOf } from '@crux/contract'
import { configParts, describe } from '@crux/rules'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleOff } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryClient, queryKey } from '../../../api/client.ts'
import { Box } from '../../../components/Box.tsx'
import { Chips } from '../../../components/Chips.tsx'
import { cx } from '../../../components/class-names.ts'
import { QueryView } from '../../../components/QueryView.tsx'
import { SearchBox } from '../../../components/SearchBox.tsx'
import { SkeletonRows } from '../../../components/Skeletons.tsx'
import { Switch } from '../../../components/Switch.tsx'
import { Pill } from '../../../components/Tag.tsx'
import { links } from '../../../routing/links.ts'
import { useConfigForm } from '../form/config-context.ts'
import { layerLabels } from '../form/Origin.tsx'

type Final = ResponseOf<'deployments.final-configuration'>[number]
type Change = ResponseOf<'deployments.preview'>['instances'][number]['changes'][number]
type Props = {
  deploymentId: string
  /** One instance of it, or all to choose from. */
  instanceId: string | undefined
  /** Changes with every stored state: the result is then fetched again. */
  revision: number | undefined
}

/** The final configuration that a start would use: every value with its origin, with the running values. */
export function FinalTab({ deploymentId, instanceId, revision }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const { teamSlug } = useConfigForm()
  const params = { teamSlug, deploymentId }
  const final = useQuery(apiQuery('deployments.final-configuration', { params }))
  const preview = useQuery(apiQuery('deployments.preview', { params }))
  const [chosen, setChosen] = useState(instanceId)
  useEffect(() => {
    for (const operation of ['deployments.final-configuration', 'deployments.preview'] as const)
      void queryClient.invalidateQueries({ queryKey: queryKey(operation, { params: { teamSlug, deploymentId } }) })
  }, [revision, teamSlug, deploymentId])
  return (
    <QueryView query={final} skeleton={<SkeletonRows rows={10} />}>
      {(all) => {
        const shown = all.find((one) => one.instanceId === chosen) ?? all[0]
        const changes = preview.data?.instances.find((one) => one.instanceId === shown?.instanceId)?.changes
        if (!shown) return <p className="text-ink-2">{t('final.none')}</p>
        return (
          <div className="grid gap-3">
            {!instanceId && all.length > 1 && (
              <span>
                <Chips
                  label={t('final.instance')}
                  value={shown.instanceId}
                  onChange={setChosen}
                  options={all.map((one) => ({ value: one.instanceId, label: one.containerName }))}
                />
              </span>
            )}
            <FinalTable final={shown} changes={changes ?? []} />
          </div>
        )
      }}
    </QueryView>
  )
}

function FinalTable({ final, changes }: { final: Final; changes: readonly Change[] }) {
  const { t } = useTranslation(['configuration', 'common'])
  const [text, setText] = useState('')
  const [changed, setChanged] = useState(false)
  const parts = configParts(Object.fromEntries(Object.entries(final.config).filter(([, value]) => !isEmptyList(value))))
  const changeByProperty = new Map(changes.map((change) => [change.property, change]))
  const rows = [
    ...[...parts.values()].map((part) => ({
      path: part.path,
      value: part.field === 'secrets' ? t('final.secret') : describe(part),
    })),
    // Values that are running now and that the next deployment removes.
    ...changes
      .filter(({ property, to }) => !parts.has(property) && (to ?? null) === null)
      .map(({ property }) => ({ path: property, value: null })),
  ]
  const wanted = text.trim().toLowerCase()
  const found = rows.filter(
    ({ path, value }) =>
      (!changed || changeByProperty.has(path)) && `${path} ${value ?? ''}`.toLowerCase().includes(wanted),
  )
  return (
    <Box
      label={t('final.title', { name: final.containerName })}
      title={t('final.title', { name: final.containerName })}
      trailing={t('values.count', { count: parts.size })}
      actions={
        <span className="flex items-center gap-2">
          <Switch label={t('final.changed')} checked={changed} onChange={setChanged} />
          <span aria-hidden>{t('final.changed')}</span>
        </span>
      }
    >
      <div className="border-b border-line px-3 py-2">
        <SearchBox label={t('final.find')} value={text} onChange={setText} />
      </div>
      {found.length === 0 ? (
        <p className="px-3 py-2.5 text-ink-3">{t(changed && wanted === '' ? 'final.unchanged' : 'rows.none')}</p>
      ) : (
        <table
          className="w-full table-fixed border-collapse max-md:block"
          aria-label={t('final.title', { name: final.containerName })}
        >
          <thead className="max-md:hidden">
            <tr>
              {(['setting', 'value', 'from'] as const).map((column) => (
                <th
                  key={column}
                  scope="col"
                  className={cx(
                    'h-8 border-b border-line px-3 text-left text-small font-medium text-ink-3',
                    column === 'setting' && 'w-[34%]',
                    column === 'from' && 'w-48',
                  )}
                >
                  {t(`column.${column}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="max-md:block">
            {found.map(({ path, value }) => (
              <FinalRow key={path} path={path} value={value} final={final} change={changeByProperty.get(path)} />
            ))}
          </tbody>
        </table>
      )}
    </Box>
  )
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0

type RowProps = { path: string; value: string | null; final: Final; change: Change | undefined }

function FinalRow({ path, value, final, change }: RowProps) {
  const { t } = useTranslation(['configuration', 'common'])
  const idle = final.notApplied.includes(getField(path)) || final.notApplied.includes(path)
  return (
    <tr className="border-b border-line align-top last:border-0 max-md:grid max-md:gap-0.5 max-md:px-3 max-md:py-2">
      <td className="mono px-3 py-1.5 break-all text-ink-2 max-md:p-0">{path}</td>
      <td className="mono px-3 py-1.5 break-all max-md:p-0">
        {value === null ? <span className="text-failed">{t('final.goes')}</span> : value}
        {change && (change.from ?? null) !== null && (
          <span className="block text-failed">
            <span className="sr-only">{t('final.before')}</span>- {change.from}
          </span>
        )}
        {change && (change.from ?? null) === null && <span className="block text-running">+ {t('final.new')}</span>}
        {idle && (
          <span className="flex items-center gap-1.5 font-sans text-small text-progress">
            <CircleOff aria-hidden className="size-3.5!" />
            {t('final.notApplied')}
          </span>
        )}
      </td>
      <td className="px-3 py-1.5 max-md:p-0">
        <Origin final={final} path={path} />
      </td>
    </tr>
  )
}

function Origin({ final, path }: { final: Final; path: string }) {
  const { t } = useTranslation(['configuration', 'common'])
  const { teamSlug, configId } = useConfigForm()
  const origin = final.origins[path]
  if (!origin) return null
  if (origin.source === 'default') return <Pill>{t('origin.default')}</Pill>
  const here = origin.configId === configId
  const words =
    origin.source === 'instance'
      ? t('origin.instance')
      : layerLabels(t, { source: origin.source, name: origin.name ?? '' })
  const pill = (
    <Pill tone={here ? 'accent' : origin.source === 'config-bundle' ? 'past' : 'plain'}>
      <span className="truncate">{words}</span>
    </Pill>
  )
  if (!origin.configId || here) return pill
  return (
    <Link
      {...links.containerConfiguration(teamSlug, origin.configId)}
      title={origin.name ?? undefined}
      className="inline-flex max-w-full rounded-full hover:underline"
    >
      {pill}
    </Link>
  )
}
