;; linear: out (n, rows) = x (n, columns) · weight (rows, columns) transposed + bias.
;; Four rows of the weight at once, and of each four numbers, in float32. All but n, rows
;; and columns are addresses; rows and columns are multiples of 4.
(module
  (memory (export "memory") 1)
  (func (export "linear")
    (param $weight i32) (param $bias i32) (param $rows i32) (param $columns i32)
    (param $x i32) (param $n i32) (param $out i32)
    (local $width i32) (local $x_end i32) (local $row_end i32) (local $bias_at i32)
    (local $k i32) (local $end i32)
    (local $w0 i32) (local $w1 i32) (local $w2 i32) (local $w3 i32) (local $v v128)
    (local $s0 v128) (local $s1 v128) (local $s2 v128) (local $s3 v128)
    (local.set $width (i32.shl (local.get $columns) (i32.const 2)))
    (local.set $x_end
      (i32.add (local.get $x) (i32.mul (local.get $n) (local.get $width))))
    (local.set $row_end (i32.add (local.get $bias) (i32.shl (local.get $rows) (i32.const 2))))
    (loop $tokens
      (local.set $w0 (local.get $weight))
      (local.set $bias_at (local.get $bias))
      (local.set $end (i32.add (local.get $x) (local.get $width)))
      (loop $four_rows
        (local.set $w1 (i32.add (local.get $w0) (local.get $width)))
        (local.set $w2 (i32.add (local.get $w1) (local.get $width)))
        (local.set $w3 (i32.add (local.get $w2) (local.get $width)))
        (local.set $s0 (v128.const f32x4 0 0 0 0))
        (local.set $s1 (v128.const f32x4 0 0 0 0))
        (local.set $s2 (v128.const f32x4 0 0 0 0))
        (local.set $s3 (v128.const f32x4 0 0 0 0))
        (local.set $k (local.get $x))
        (loop $four_columns
          (local.set $v (v128.load (local.get $k)))
          (local.set $s0 (f32x4.add (local.get $s0)
            (f32x4.mul (local.get $v) (v128.load (local.get $w0)))))
          (local.set $s1 (f32x4.add (local.get $s1)
            (f32x4.mul (local.get $v) (v128.load (local.get $w1)))))
          (local.set $s2 (f32x4.add (local.get $s2)
            (f32x4.mul (local.get $v) (v128.load (local.get $w2)))))
          (local.set $s3 (f32x4.add (local.get $s3)
            (f32x4.mul (local.get $v) (v128.load (local.get $w3)))))
          (local.set $w0 (i32.add (local.get $w0) (i32.const 16)))
          (local.set $w1 (i32.add (local.get $w1) (i32.const 16)))
          (local.set $w2 (i32.add (local.get $w2) (i32.const 16)))
          (local.set $w3 (i32.add (local.get $w3) (i32.const 16)))
          (br_if $four_columns (i32.lt_u
            (local.tee $k (i32.add (local.get $k) (i32.const 16)))
            (local.get $end))))
        ;; the four numbers of each sum become one, the four sums one vector
        (local.set $s0 (f32x4.add
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $s0) (local.get $s1))
          (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $s0) (local.get $s1))))
        (local.set $s2 (f32x4.add
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $s2) (local.get $s3))
          (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $s2) (local.get $s3))))
        (v128.store (local.get $out) (f32x4.add (v128.load (local.get $bias_at)) (f32x4.add
          (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27 (local.get $s0) (local.get $s2))
          (i8x16.shuffle 4 5 6 7 12 13 14 15 20 21 22 23 28 29 30 31 (local.get $s0) (local.get $s2)))))
        (local.set $out (i32.add (local.get $out) (i32.const 16)))
        (local.set $w0 (local.get $w3))
        (br_if $four_rows (i32.lt_u
          (local.tee $bias_at (i32.add (local.get $bias_at) (i32.const 16)))
          (local.get $row_end))))
      (br_if $tokens (i32.lt_u
        (local.tee $x (local.get $end))
        (local.get $x_end))))))
