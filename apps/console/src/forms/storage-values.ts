import { Description, Icon, limits, Name, type ResponseOf, type StorageWrite } from '@crux/contract'
import i18n from 'i18next'
import { z } from 'zod'

const Key = z.string().trim().max(1_024)

/** The values of the form. Stored keys are never sent to the browser, so they stay until the user changes them. */
export const StorageValues = z
  .object({
    name: Name,
    description: Description,
    icon: Icon,
    url: z.string().trim().min(1).max(limits.url.max),
    public: z.boolean(),
    /** False only while stored keys stay as they are. */
    changeKeys: z.boolean(),
    accessKey: Key,
    secretKey: Key,
  })
  .superRefine((values, context) => {
    if (!sendsKeys(values)) return
    for (const path of ['accessKey', 'secretKey'] as const)
      if (values[path] === '')
        context.addIssue({ code: 'custom', path: [path], message: i18n.t(`storages:form.${path}Required`) })
  })
export type StorageValues = z.output<typeof StorageValues>
export type StorageInput = z.input<typeof StorageValues>

export const emptyStorage: StorageInput = {
  name: '',
  description: '',
  icon: null,
  url: '',
  public: false,
  changeKeys: true,
  accessKey: '',
  secretKey: '',
}

export function fromStorage(storage: ResponseOf<'storages.get'>): StorageInput {
  const { name, description, icon, url } = storage
  return {
    ...emptyStorage,
    name,
    description: description ?? '',
    icon: icon ?? null,
    url,
    public: storage.public,
    changeKeys: storage.public,
  }
}

export function toStorageWrite(values: StorageValues): StorageWrite {
  const { name, description, icon, url, accessKey, secretKey } = values
  const base = { name, description: description || null, icon, url, public: values.public }
  return sendsKeys(values) ? { ...base, accessKey, secretKey } : base
}

const sendsKeys = (values: Pick<StorageValues, 'public' | 'changeKeys'>) => !values.public && values.changeKeys
