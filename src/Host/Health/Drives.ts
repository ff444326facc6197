/**
 * Drives: the file systems that hold a machine's data, and how much room is left on them.
 */

/** A mounted file system: what holds its data, and where it is. */
export interface Mount {
  readonly device: string
  readonly path: string
}

/** What `statfs` says of a file system, in the parts that matter here. */
export interface FileSystemStats {
  readonly bsize: number
  readonly blocks: number
  readonly bavail: number
}

/** The free and the whole space of a drive, in bytes. */
export interface Drive {
  readonly path: string
  readonly free: number
  readonly size: number
}

/**
 * Picks the real drives out of the text of `/proc/mounts`: writable file systems on block devices, ZFS pools, and the
 * root of a container, which is an overlay.
 *
 * Left out are pseudo file systems, network shares (asking one whose server is away can hang), user-space file systems,
 * and boot partitions, which are small, full by design, and no place for a service's data.
 */
export const parseMounts = (text: string): ReadonlyArray<Mount> =>
  text.split("\n").flatMap((line) => {
    const [device = "", path = "", type = "", options = ""] = line.split(" ").map(decodeOctal)
    const real =
      (device.startsWith("/dev/") && (type === "fuseblk" || !type.startsWith("fuse"))) ||
      type === "zfs" ||
      (type === "overlay" && path === "/")
    const boot = /^\/(boot|efi)(\/|$)/.test(path)
    if (!real || boot || !options.split(",").includes("rw")) return []
    return [{ device: type === "zfs" ? device.replace(/\/.*/, "") : device, path }] // all of a pool share its space
  })

/** The kernel writes spaces and the like as three octal digits. */
const decodeOctal = (field: string) =>
  field.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 8)))

/** Asks each device once, at the first of its mounts that answers. Those that do not, or that have no size, are left out. */
export const measure = async (
  mounts: ReadonlyArray<Mount>,
  statfs: (path: string) => Promise<FileSystemStats>
): Promise<ReadonlyArray<Drive>> => {
  const drives = new Map<string, Drive>()
  for (const { device, path } of mounts) {
    if (drives.has(device)) continue
    const stats = await statfs(path).catch(() => undefined)
    if (stats === undefined || stats.blocks === 0) continue
    drives.set(device, { path, free: stats.bavail * stats.bsize, size: stats.blocks * stats.bsize })
  }
  return [...drives.values()]
}
