import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { statfs } from "node:fs/promises"
import * as BuiltInChecks from "../../../src/Host/Health/BuiltInChecks.ts"
import * as Drives from "../../../src/Host/Health/Drives.ts"

const mebibyte = 1024 ** 2
const diskLimit = { minimumFreeBytes: 100 * mebibyte }
const memoryLimit = { maximumAllocatedBytes: 2 * 1024 ** 3 }
const stats = (free: number) => ({ bsize: 1, blocks: 1000 * mebibyte, bavail: free })

/** What a machine with the given free space at each of its mount points answers. */
const statfsOf = (free: Record<string, number>) => async (path: string) => {
  if (free[path] === undefined) throw new Error(`EACCES: ${path}`)
  return stats(free[path])
}

describe("BuiltInChecks", () => {
  it.effect("api is always healthy", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* BuiltInChecks.api.check, { status: "Healthy", description: null })
    })
  )

  it("all are liveness checks with their documented names", () => {
    const checks = [BuiltInChecks.api, BuiltInChecks.diskSpace(diskLimit), BuiltInChecks.memory(memoryLimit)]
    assert.deepStrictEqual(
      checks.map(({ name, tags }) => [name, tags]),
      [
        ["api", ["liveness"]],
        ["disk_space", ["liveness"]],
        ["memory", ["liveness"]]
      ]
    )
  })

  describe("disk_space", () => {
    const readMounts = async () => "/dev/sda1 / ext4 rw 0 0\n/dev/sdb1 /data ext4 rw 0 0\n"

    it.effect("finds room on the drives of this machine", () =>
      Effect.gen(function* () {
        const result = yield* BuiltInChecks.diskSpace({ minimumFreeBytes: 0 }).check
        assert.strictEqual(result.status, "Healthy")
        assert.match(result.description!, /\/.* has .+ free of .+/)
      })
    )

    it.effect("is unhealthy when one drive has less than the threshold, and says which and how much", () =>
      Effect.gen(function* () {
        const check = BuiltInChecks.diskSpace({
          ...diskLimit,
          readMounts,
          statfs: statfsOf({ "/": 500 * mebibyte, "/data": 100 * mebibyte - 1 })
        })
        assert.deepStrictEqual(yield* check.check, {
          status: "Unhealthy",
          description: "Below 100 MiB: /data has 100 MiB free of 1000 MiB"
        })
      })
    )

    it.effect("is healthy at the threshold", () =>
      Effect.gen(function* () {
        const check = BuiltInChecks.diskSpace({
          minimumFreeBytes: 10,
          readMounts,
          statfs: statfsOf({ "/": 2 * mebibyte, "/data": 10 })
        })
        assert.deepStrictEqual(yield* check.check, {
          status: "Healthy",
          description: "/ has 2 MiB free of 1000 MiB, /data has 10 B free of 1000 MiB"
        })
      })
    )

    it.effect("leaves out a drive that cannot be asked", () =>
      Effect.gen(function* () {
        const check = BuiltInChecks.diskSpace({
          ...diskLimit,
          readMounts,
          statfs: statfsOf({ "/data": 500 * mebibyte })
        })
        assert.deepStrictEqual(yield* check.check, {
          status: "Healthy",
          description: "/data has 500 MiB free of 1000 MiB"
        })
      })
    )

    it.effect("asks the drive of the working directory where no mounts can be read", () =>
      Effect.gen(function* () {
        const check = BuiltInChecks.diskSpace({
          ...diskLimit,
          readMounts: () => Promise.reject(new Error("ENOENT")),
          statfs: statfsOf({ [process.cwd()]: 1 })
        })
        assert.deepStrictEqual(yield* check.check, {
          status: "Unhealthy",
          description: `Below 100 MiB: ${process.cwd()} has 1 B free of 1000 MiB`
        })
      })
    )

    it.effect("is degraded when it can learn nothing", () =>
      Effect.gen(function* () {
        const check = BuiltInChecks.diskSpace({ ...diskLimit, readMounts, statfs: statfsOf({}) })
        assert.strictEqual((yield* check.check).status, "Degraded")
      })
    )
  })

  describe("memory", () => {
    const limit = memoryLimit.maximumAllocatedBytes
    it.effect.each([
      [limit - 1, 0, "Healthy"],
      [limit - 2, 1, "Healthy"],
      [limit, 0, "Unhealthy"],
      [1, limit - 1, "Unhealthy"]
    ] as const)("with %i bytes of heap and %i outside is %s", ([heapUsed, external, status]) =>
      Effect.gen(function* () {
        const check = BuiltInChecks.memory({ ...memoryLimit, memoryUsage: () => ({ heapUsed, external }) })
        assert.deepStrictEqual(yield* check.check, { status, description: "2 GiB allocated, limit 2 GiB" })
      })
    )

    it.effect("takes its threshold from the option, and the process's own memory", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* BuiltInChecks.memory(memoryLimit).check).status, "Healthy")
        assert.strictEqual((yield* BuiltInChecks.memory({ maximumAllocatedBytes: 1 }).check).status, "Unhealthy")
      })
    )
  })
})

describe("Drives", () => {
  it("picks real drives out of the mounts", () => {
    const text = `proc /proc proc rw,relatime 0 0
udev /dev devtmpfs rw 0 0
/dev/mapper/vg-root / ext4 rw,relatime 0 0
tmpfs /run tmpfs rw 0 0
overlay /var/lib/docker/overlay2/1/merged overlay rw 0 0
/dev/loop3 /snap/core/1 squashfs ro,nodev 0 0
/dev/sda1 /boot/efi vfat rw 0 0
/dev/sda2 /boot ext4 rw 0 0
/dev/sdb1 /media/My\\040Disk\\134x fuseblk rw 0 0
/dev/sdb2 /bootleg xfs rw 0 0
/dev/fuse /run/user/1000/doc fuse rw 0 0
/dev/sr0 /media/cd iso9660 ro 0 0
server:/export /mnt/nfs nfs4 rw 0 0
tank/home /home zfs rw 0 0

garbage
`
    assert.deepStrictEqual(Drives.parseMounts(text), [
      { device: "/dev/mapper/vg-root", path: "/" },
      { device: "/dev/sdb1", path: "/media/My Disk\\x" },
      { device: "/dev/sdb2", path: "/bootleg" },
      { device: "tank", path: "/home" }
    ])
    assert.deepStrictEqual(Drives.parseMounts("overlay / overlay rw,lowerdir=/a 0 0"), [
      { device: "overlay", path: "/" }
    ])
  })

  it("asks each device once, at the first mount that answers", async () => {
    const asked: Array<string> = []
    const drives = await Drives.measure(
      [
        { device: "/dev/a", path: "/locked" },
        { device: "/dev/a", path: "/open" },
        { device: "/dev/a", path: "/again" },
        { device: "/dev/b", path: "/empty" }
      ],
      async (path) => {
        asked.push(path)
        if (path === "/locked") throw new Error("EACCES")
        return path === "/empty" ? { bsize: 1, blocks: 0, bavail: 0 } : { bsize: 4096, blocks: 10, bavail: 3 }
      }
    )
    assert.deepStrictEqual(asked, ["/locked", "/open", "/empty"])
    assert.deepStrictEqual(drives, [{ path: "/open", free: 12288, size: 40960 }])
  })

  it("reads the real figures of a real drive", async () => {
    const [drive] = await Drives.measure([{ device: "any", path: import.meta.dirname }], statfs)
    assert.isAbove(drive!.size, 0)
    assert.isAtMost(drive!.free, drive!.size)
  })
})
