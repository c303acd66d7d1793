import type { Deployment } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { Button } from '../../components/Button.tsx'
import { Checkbox } from '../../components/Checkbox.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Field, TextInput } from '../../components/Field.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { isTypedName } from '../../components/typed-name.ts'
import { versionTitle } from '../../components/version-title.ts'
import { PrefixDataChoice } from './PrefixDataChoice.tsx'
import { PrefixDataResult } from './PrefixDataResult.tsx'
import { hasData, isNoData, noData } from './prefix-data.ts'
import { useDeleteDeployment } from './use-delete-deployment.ts'

type Props = { teamSlug: string; deployment: Deployment; onClose: () => void; onDeleted?: () => void }

/**
 * The dialog asks whether to delete the containers too; a later deployment to the same target takes over containers that stay. On a cluster it
 * also asks about the data that would stay without them.
 */
export function DeleteDeployment({ teamSlug, deployment, onClose, onDeleted }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const { node, prefix } = deployment
  const [isChecked, setChecked] = useState(false)
  const [chosen, setChosen] = useState(noData)
  const [typed, setTyped] = useState('')
  const mayRun = deployment.status !== 'preparing' && deployment.status !== 'obsolete'
  const containers = mayRun && isChecked
  const name = versionTitle(deployment.project, deployment.version)
  const deletion = useDeleteDeployment({
    teamSlug,
    deployment,
    done: t('delete.done', { name }),
    onDeleted: () => {
      onClose()
      onDeleted?.()
    },
  })
  const data = useQuery({
    ...apiQuery('prefix-data.get', { params: { teamSlug, nodeId: node.id, prefix } }),
    enabled: containers && node.type === 'k8s',
    staleTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  })
  const withData = containers && !isNoData(chosen)
  const { error, result, step } = deletion
  const isPending = step !== undefined
  const denied = withData ? deletion.deniedData : deletion.denied
  // Its result is shown here alone.
  const isDeletingData = withData && isPending
  const close = () => !isDeletingData && onClose()
  const missing = withData && !isTypedName(typed, prefix) ? t('common:confirm.typeFirst', { name: prefix }) : null
  const submit = () => (withData ? deletion.deleteWithData(chosen) : deletion.deleteDeployment(containers))
  const action =
    result || error
      ? 'deleteData.again'
      : withData
        ? 'deleteData.action'
        : containers
          ? 'delete.actionBoth'
          : 'delete.action'
  return (
    <Dialog
      open
      onClose={close}
      title={t('delete.title', { name, node: node.name })}
      description={t('delete.text')}
      initialFocus={(content) => content.querySelector('[data-confirm]')}
      footer={
        <>
          <Button disabledReason={isDeletingData && t('deleteData.wait')} onClick={close}>
            {t(result ? 'common:close' : 'common:cancel')}
          </Button>
          {result && (
            <Button
              variant="bad"
              busy={isPending}
              disabledReason={denied}
              onClick={() => deletion.deleteDeployment(true)}
            >
              {t('deleteData.keepRest')}
            </Button>
          )}
          <Button data-confirm variant="bad-main" busy={isPending} disabledReason={denied ?? missing} onClick={submit}>
            {t(action)}
          </Button>
        </>
      }
    >
      {!mayRun && <p className="text-ink-2">{t('delete.nothingRuns')}</p>}
      <fieldset disabled={isDeletingData} className="min-w-0">
        {mayRun && !result && <ContainersChoice {...{ deployment, containers, withData }} onChange={setChecked} />}
        {result && <PrefixDataResult prefix={prefix} result={result} />}
        {containers && !result && node.type === 'k8s' && (
          <DataQuestion {...{ prefix, data, chosen }} onChange={setChosen} />
        )}
      </fieldset>
      {isDeletingData && (
        <p role="status" className="mt-4 text-ink-2">
          {t(`deleteData.step.${step}`, { prefix })}
        </p>
      )}
      {error && <ErrorState error={error} title={t('deleteData.failed')} />}
      {withData && !result && (
        <div className="mt-4">
          <Field label={t('common:confirm.type', { name: prefix })} help={t('deleteData.lost')}>
            <TextInput mono autoComplete="off" value={typed} onChange={(event) => setTyped(event.target.value)} />
          </Field>
        </div>
      )}
    </Dialog>
  )
}

type ContainersProps = {
  deployment: Deployment
  containers: boolean
  withData: boolean
  onChange: (checked: boolean) => void
}

function ContainersChoice({ deployment: { node, prefix }, containers, withData, onChange }: ContainersProps) {
  const { t } = useTranslation('deployments')
  const lost = withData ? 'deleteData.lostContainers' : node.type === 'k8s' ? 'delete.lostCluster' : 'delete.lost'
  return (
    <label htmlFor="delete-containers" className="flex items-start gap-2">
      <span className="pt-0.5">
        <Checkbox id="delete-containers" checked={containers} onChange={onChange} />
      </span>
      <span>
        {t('delete.containers', { prefix, node: node.name })}
        <span className="block text-small text-ink-2">
          {containers ? t(lost, { node: node.name, prefix }) : t('delete.stay')}
        </span>
      </span>
    </label>
  )
}

type DataProps = Omit<Parameters<typeof PrefixDataChoice>[0], 'data'> & {
  data: Pick<ReturnType<typeof useQuery<Parameters<typeof PrefixDataChoice>[0]['data']>>, 'data' | 'error' | 'refetch'>
}

function DataQuestion({ data: { data, error, refetch }, prefix, ...choice }: DataProps) {
  const { t } = useTranslation('deployments')
  if (data) return hasData(data) ? <PrefixDataChoice prefix={prefix} data={data} {...choice} /> : null
  return (
    <div className="mt-4">
      {error ? (
        <ErrorState error={error} title={t('deleteData.unknown', { prefix })} retry={() => void refetch()} />
      ) : (
        <SkeletonRows rows={2} />
      )}
    </div>
  )
}
