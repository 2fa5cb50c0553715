use dahl_core::__private::*;
use dahl_core::*;
fn k(views: &mut Views<'_>) {
    let _ = (views.slice::<f32>(), views.slice::<f32>(), views.slice_mut::<f32>());
}
static C: Codelet = Codelet::new("empty", "m", 1)
    .parameters(&[
        Parameter::new("a", AccessMode::R, ElementType::of::<f32>()),
        Parameter::new("b", AccessMode::R, ElementType::of::<f32>()),
        Parameter::new("out", AccessMode::W, ElementType::of::<f32>()),
    ])
    .kernels(&[Some(Kernel::new("rust", k))]);
#[track_caller]
#[inline(never)]
fn empty(a: &Vector<f32>, b: &Vector<f32>, c: &mut Vector<f32>) -> Result<()> {
    let mut t = Task::new(&C);
    t.read(a);
    t.read(b);
    t.write(c);
    t.require_same_shapes();
    t.submit()
}
fn main() -> Result<()> {
    let w: usize = std::env::args().nth(1).map_or(1, |s| s.parse().unwrap());
    for sched in ["ws", "eager"] {
        let rt = Runtime::builder().cpu_workers(w).scheduler(sched).build()?;
        let mut arrays: Vec<Option<Vector<f32>>> =
            (0..64).map(|_| rt.zeros([1]).map(Some)).collect::<Result<_>>()?;
        for round in 0..7 {
            let mut s = 12345u64;
            let mut rnd = move || {
                s ^= s << 13;
                s ^= s >> 7;
                s ^= s << 17;
                (s % 64) as usize
            };
            let t = std::time::Instant::now();
            for _ in 0..200_000 {
                let i = rnd();
                let mut a = rnd();
                if a == i {
                    a = (a + 1) % 64
                }
                let mut b = rnd();
                if b == i {
                    b = (b + 1) % 64
                }
                let mut c = arrays[i].take().unwrap();
                empty(arrays[a].as_ref().unwrap(), arrays[b].as_ref().unwrap(), &mut c)?;
                arrays[i] = Some(c);
            }
            let sub = t.elapsed();
            rt.wait()?;
            if round > 1 {
                println!(
                    "{sched} {w} workers: {:.0} ns/task (submit {:.0})",
                    t.elapsed().as_nanos() as f64 / 2e5,
                    sub.as_nanos() as f64 / 2e5
                );
            }
        }
    }
    Ok(())
}
